"""Machines whose collectives are nobody's NCCL, or of which no public run was fitted; and all.

Apart from `engine.catalog.nodes`, which travels with the pages on NCCL.
"""

from collections.abc import Mapping

from engine.catalog.nodes import NODES, Node, node_row

MORE_NODES: Mapping[str, Node] = {
    "dgx-1": node_row("DGX-1", "V100-SXM-32GB", (4, 100), "infiniband", source="nvidia_v100"),
    "p3dn": node_row("AWS p3dn", "V100-SXM-32GB", (1, 100), "efa", source="aws_accelerated"),
    "g6": node_row("AWS g6.48xlarge", "L4", (1, 100), "efa", source="aws_accelerated"),
    "g6e": node_row("AWS g6e.48xlarge", "L40S", (4, 100), "efa", source="aws_accelerated"),
    "g7e": node_row("AWS g7e.48xlarge", "RTX-PRO-6000", (4, 400), "efa", source="aws_accelerated"),
    # Hosts that people build: their port is an example, all else is the card's.
    "rtx-4090": node_row(
        "Host with 8 RTX 4090", "RTX-4090", (1, 100), "ethernet", source="nvidia_ada"
    ),
    "rtx-5090": node_row(
        "Host with 8 RTX 5090", "RTX-5090", (1, 100), "ethernet", source="nvidia_rtx_blackwell"
    ),
    "a10": node_row("Host with 8 A10", "A10", (1, 100), "ethernet", source="nvidia_a10"),
    # Three ports of each card lead out of the node.
    "gaudi3": node_row("Gaudi 3 node", "Gaudi3", (24, 200), "roce", source="intel_gaudi3"),
    # A pod, whose links are a torus; its ports are those to other pods.
    "tpu-v5p": node_row(
        "TPU v5p pod",
        "TPU-v5p",
        (8960, 50),
        "ethernet",
        source="google_tpu",
        gpus_per_node=8960,
        gpus_per_host=4,
    ),
    "tpu-v6e": node_row(
        "TPU v6e pod",
        "TPU-v6e",
        (256, 100),
        "ethernet",
        source="google_tpu",
        gpus_per_node=256,
        gpus_per_host=8,
    ),
    "tpu7x": node_row(
        "TPU7x pod",
        "TPU7x",
        (9216, 100),
        "ethernet",
        source="google_tpu",
        gpus_per_node=9216,
        gpus_per_host=4,
    ),
    "trn2": node_row(
        "AWS trn2", "Trainium2", (16, 200), "efa", source="aws_accelerated", gpus_per_node=16
    ),
    "trn2-ultra": node_row(
        "AWS trn2u, 64 chips",
        "Trainium2",
        (64, 200),
        "efa",
        source="aws_accelerated",
        gpus_per_node=64,
        gpus_per_host=16,
    ),
}
EVERY_NODE: Mapping[str, Node] = {**NODES, **MORE_NODES}
