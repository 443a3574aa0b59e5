"""The names of the explorer's layers and events, from the smallest time to the largest."""

from collections.abc import Mapping

LAYER_NAMES: Mapping[str, str] = {
    "link": "L0 Links",
    "gpu": "L1 GPU",
    "collective": "L2 Collectives",
    "step": "L3 Step",
    "job": "L4 Job",
}
EVENT_NAMES: Mapping[str, str] = {
    "memory": "HBM access",
    "nvlink": "NVLink hop",
    "gap": "Gap between kernels",
    "launch": "Launch of a collective",
    "network": "Network hop",
    "gemm": "One matrix product",
    "tensor": "Gather of tensor parallelism",
    "send": "Message to the next stage",
    "layer": "One layer forward",
    "optimizer": "Optimizer",
    "bucket": "Gradients of one layer",
    "microbatch": "One micro-batch on a stage",
    "gradients": "All gradients of a GPU",
    "bubble": "Pipeline bubble",
    "step": "One step",
    "checkpoint": "Checkpoint",
    "restart": "Restart after a failure",
    "interval": "Work between checkpoints",
    "mtbf": "Until something fails",
    "run": "The whole run",
}
