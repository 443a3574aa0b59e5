"""Constants of the cost model that are not fitted to training runs: value, range, where from.

A row: key, words, quantity, the ends that its sources leave open (None: they state one value, or it
is assumed), where it is from, keys of the bibliography. A key names the constant in the code,
"module:NAME.field"; a test compares the list with the code.
"""

from collections.abc import Mapping

from engine.catalog import constants, nccl_constants, transports
from engine.core.units import BANDWIDTH, BYTES, COUNT, RATIO, SECONDS, SHARE, Quantity
from engine.formulas import compute
from engine.run import software
from engine.simulate.layer import device_model, elementwise_traffic, layer_time
from engine.simulate.step import error_attribution, step_range

Row = tuple[str, str, Quantity, tuple[float, float] | None, str, tuple[str, ...]]

# Named here, so that a page that imports this module ships them.
_MODULES = (
    constants,
    nccl_constants,
    transports,
    compute,
    software,
    error_attribution,
    layer_time,
    device_model,
    step_range,
    elementwise_traffic,
)
_BY_NAME = {module.__name__.removeprefix("engine."): module for module in _MODULES}
_GPU, _COMMON = "catalog.constants:ACHIEVED.", "catalog.constants:COMMON."
_ALLOWANCES, _WIRES = "catalog.constants:ALLOWANCES.", "catalog.transports:"
_SOFTWARE = "run.software:SOFTWARE."
_DIFFERS = "simulate.step.error_attribution:CLUSTER_DEVIATION."
_STREAMS = "five BabelStream kernels, the middle"
_RING = "nccl-tests on eight GPUs, a ring"
_GRID = "tried on a grid against published peaks"
_NONE = "no published run: another type's shares, or of its best kernels 6 % less"
_COUNTED, _ASSUMED = "counted in the code of the software", "assumed"


_BY_PLAN = "NCCL plans with it", ("nccl_tuning",)


def _wire(key: str, words: str, quantity: Quantity, origin: str = "") -> Row:
    """A number of collectives: planned by NCCL's tuner, or fitted to measured all-reduces."""
    cited = ("nccl_tests",) if origin else ("nccl_tuning",)
    return _WIRES + key, words, quantity, None, origin or "NCCL plans with it", cited


def _planned(key: str, words: str, quantity: Quantity) -> Row:
    """A number of NCCL's algorithms and protocols, whatever the link."""
    return f"catalog.nccl_constants:{key}", words, quantity, None, *_BY_PLAN


def _curve(key: str, words: str, quantity: Quantity) -> Row:
    return _wire(key, words, quantity, "fitted to measured all-reduces, of no training run")


def _other(gpu: str, *sources: str) -> Row:
    """The rate of products of a type that no published run has; its other shares go with it."""
    return f"{_GPU}{gpu}.matmul", f"{gpu}: products, of the peak", SHARE, None, _NONE, sources


_OF_GPUS: tuple[Row, ...] = (
    (f"{_GPU}A100 SXM 80 GB.memory", "A100: streaming kernels, of the memory's bandwidth", SHARE,
     (1.61 / 2.039, 1.75 / 2.039), _STREAMS, ("azure_gpu_guide",)),
    (f"{_GPU}H100 SXM.memory", "H100: streaming kernels, of the memory's bandwidth", SHARE,
     (2.90 / 3.35, 3.18 / 3.35), _STREAMS, ("azure_gpu_guide",)),
    (f"{_GPU}B200 SXM.memory", "Blackwell: streaming kernels, of the memory's bandwidth", SHARE,
     (0.67, 0.887), "assumed, between what SimuMax fits and the H100's", ("simumax",)),
    (f"{_GPU}A100 SXM 80 GB.scale_up", "A100: large collectives, of NVLink", SHARE, None, _RING,
     ("bekman2025",)),
    (f"{_GPU}H100 SXM.scale_up", "H100: large collectives, of NVLink", SHARE,
     (365.6 / 450, 370 / 450), _RING, ("bekman2025", "nccl_tuning")),
    (f"{_GPU}B200 SXM.scale_up", "Blackwell: large collectives, of NVLink", SHARE, None, _RING,
     ("bekman2025",)),
    (f"{_GPU}H100 SXM.network", "all types: large collectives, of the network ports", SHARE,
     (42.6 / 50, 192 / 200), "nccl-tests on DGX A100, DGX H100 and EFA v1", ("nccl_tests",)),
    _other("V100 SXM2 32 GB"),
    _other("A100 PCIe 80 GB", "simumax"),
    _other("H100 PCIe"),
    _other("L40S"),
    _other("RTX 4090"),
    _other("Instinct MI300X", "bekman_accelerators"),
    _other("Instinct MI325X", "bekman_accelerators"),
    _other("Instinct MI355X", "bekman_accelerators", "hipkittens2025"),
    (f"{_GPU}RTX 4090.scale_up", "GeForce: large collectives, of PCIe", SHARE, None,
     "copies between two cards through the memory of the host", ("geforce_peer",)),
    (f"{_GPU}Instinct MI355X.attention_forward", "Instinct MI355X: fused attention", SHARE,
     (941 / 2516, 1246 / 2516), "AITER's kernels, causal, 2,048 to 16,384 tokens, less 6 %",
     ("hipkittens2025",)),
)  # fmt: skip
_OF_STEPS: tuple[Row, ...] = (
    (_COMMON + "kernel_gap", "gap between two small kernels", SECONDS, None,
     "assumed: what profiles of A100 and H100 show", ()),
    (_COMMON + "dense_launches", "launches of a pass of a layer without experts", SECONDS, None,
     "between 120 launches of 8 us and two rows of SimuMax on B200", ("simumax",)),
    (_COMMON + "expert_product", "start and end of an expert in a grouped product", SECONDS, None,
     "fits grouped products on A100 and B200 best", ("simumax",)),
    (_COMMON + "exchange", "all-to-all of copies, of the rate of other collectives", SHARE, None,
     "one all-to-all on eight B200", ("simumax",)),
    (_COMMON + "exchange_nodes", "likewise, one copy for all experts of a node", SHARE,
     (635 / 900 / 0.76, 158 / 200 / 0.82), "DeepEP on H800 and Blackwell", ("deepep",)),
    (_COMMON + "latent_forward", "latent attention, of the rate of another, forward", SHARE,
     (0.82, 0.87), "attention on A100 and B200", ("simumax",)),
    (_COMMON + "latent_backward", "likewise, backward", SHARE, (0.76, 0.78),
     "attention on A100 and B200", ("simumax",)),
    ("formulas.compute:LAST_WAVE", "idle time of the last wave of tiles that remains", SHARE, None,
     _ASSUMED, ()),
    ("formulas.compute:EXPONENTIAL_SIZE", "exponentials of a score, in elements of a head", COUNT,
     None, _ASSUMED, ()),
    ("formulas.compute:BATCHED", "unfused products of scores, of the rate of large ones", SHARE,
     None, _ASSUMED, ()),
    ("formulas.compute:UNALIGNED", "products of rows that are no multiple of 16 bytes", SHARE,
     None, "an A100 without its matrix units; our H100 took six times as long", ("nvidia_a100",)),
    ("simulate.layer.device_model:OLD_INSTRUCTIONS",
     "FlashAttention-2 on Hopper, of the newest kernels", SHARE,
     None, "350 against 600 TFLOP/s and more on an H100", ()),
    (_SOFTWARE + "megatron.accumulate", "bytes exposed per parameter to add a gradient", RATIO,
     (0.36 * 8, 0.64 * 8), "kernels on A100 and B200", ("simumax",)),
    (_SOFTWARE + "deepspeed.sharded_ports", "ports of a node that DeepSpeed's gathers use", COUNT,
     None, "read off twelve runs of one table", ("narayanan2021",)),
    ("simulate.layer.layer_time:LOOKUP_PASSES",
     "passes over the hidden state to look tokens up", RATIO,
     None, _COUNTED, ()),
    ("simulate.layer.elementwise_traffic:_NORM_SHARE",
     "passes over the hidden state that are of norms", SHARE, None,
     _COUNTED, ()),
    (_ALLOWANCES + "fragments", "what PyTorch's allocator reserves beyond what is used", SHARE,
     None, _GRID, ("bigscience2022",)),
    (_ALLOWANCES + "fragments_alone", "likewise, one rank that trains all parameters", SHARE, None,
     "fitted to 27 steps of our own", ()),
    (_ALLOWANCES + "workspace", "workspaces of the matrix libraries", BYTES, None, _GRID,
     ("bigscience2022",)),
    (_ALLOWANCES + "context", "context of CUDA", BYTES, None, "measured on H100 and H200", ()),
    (_ALLOWANCES + "loaded_context", "context of CUDA with all kernels loaded, as of 2022", BYTES,
     None, "measured on an A100", ("bigscience2022",)),
    (_ALLOWANCES + "channels", "channels of NCCL", BYTES, None, _GRID, ("bigscience2022",)),
    ("catalog.constants:LOAD", "a load from the memory of a GPU", SECONDS,
     (460 / 1.53e9, 860 / 1.965e9), "V100, GH200 and B200", ("dewing",)),
)  # fmt: skip
_OF_RANGES: tuple[Row, ...] = (
    ("catalog.constants:GUESS_ERROR",
     "what a GPU of which nothing was measured widens a range by", RATIO, (1.2, 2.4),
     "predictions of V100, MI355X and TPU v5p with another type's shares", ()),
    ("simulate.step.step_range:EXTRAPOLATION_FACTOR",
     "what each thing that no run has widens a range by", RATIO, (1.5, 2.0),
     "steps of MLPerf Training that go beyond the fit: four in five lie in their range", ()),
    ("simulate.step.error_attribution:BETWEEN_GROUPS",
     "variance of errors that lies between clusters", SHARE, None,
     "analysis of variance of the unseen runs", ()),
    *((_DIFFERS + name, f"deviation of {words} from cluster to cluster", SHARE, None, origin, ())
      for name, words, origin in (
          ("matmul", "products in 16 bits", "two sources on an A100"),
          ("matmul_fp8", "products in FP8", _ASSUMED),
          ("attention_forward", "attention forward", _ASSUMED),
          ("attention_backward", "attention backward", _ASSUMED),
          ("fill", "the fill of a tile", _ASSUMED),
          ("memory", "streaming kernels", _ASSUMED),
          ("scale_up", "collectives over NVLink", _ASSUMED),
          ("network", "collectives over the network", "four measured networks"))),
)  # fmt: skip
_OF_WIRES: tuple[Row, ...] = (
    _curve("LAUNCH", "launch of a collective", SECONDS),
    _curve("NVLINK.step", "a step inside a node", SECONDS),
    _curve("NVLINK.ramp", "ramp inside a node", BYTES),
    _curve("NVLINK.scale", "its scale", BYTES),
    _curve("SWITCH.start", "start in the switch (NVLS)", SECONDS),
    _curve("SWITCH.ramp", "ramp in the switch", BYTES),
    _curve("SWITCH.scale", "its scale", BYTES),
    _wire("SWITCH_SHARE", "the switch, of a ring's bandwidth", SHARE, "five to eight H200"),
    _wire("SWITCH_SHARE_BLACKWELL", "likewise, on Blackwell", SHARE, "six to eight B200"),
    _wire("SWITCH_MOST", "ranks beyond which it gains nothing", COUNT, "NVL72, two nodes of H100"),
    _curve("INFINIBAND.step", "a step between nodes", SECONDS),
    _curve("INFINIBAND.step_small", "likewise, small messages", SECONDS),
    _wire("ROCE.share", "RoCE, of InfiniBand's bandwidth", SHARE, "four nodes of eight H100"),
    _curve("EFA_V1.step", "EFA v1: a step", SECONDS),
    _curve("EFA_V1.step_eager", "EFA v1: a step of a small message", SECONDS),
    _curve("EFA_V1.ramp", "EFA v1: ramp", BYTES),
    _curve("EFA_V1.scale", "EFA v1: its scale", BYTES),
    _wire("EFA_V2.step", "EFA v2: a step", SECONDS, "Amazon's announcement"),
    _wire("EFA_V3.step", "EFA v3: a step", SECONDS, "Amazon's announcement"),
    _wire("EFA_V4.step", "EFA v4: a step", SECONDS, "Amazon's announcement"),
    _wire("NVLINK.start", "start inside a node", SECONDS),
    _wire("NVLINK.start_small", "start, small messages", SECONDS),
    _wire("NVLINK.step_small", "a step, small messages", SECONDS),
    _wire("NVLINK.share_small", "small messages, of the bandwidth", SHARE),
    _wire(
        "NVLINK_NETWORK.step_small",
        "likewise a step, between the trays of a rack",
        SECONDS,
        "fitted to gathers of 1 to 64 KiB by 8 and 32 GB200; NCCL plans 0.6 us",
    ),
    _planned("TREE_SHARE", "a tree, of a ring's bandwidth", SHARE),
    _planned("TREE_ON_ONE", "likewise, one port per GPU", SHARE),
    _planned("SWITCH_TREE", "switches and a tree of nodes", SECONDS),
    _planned("SWITCH_TREE_STEP", "their step, beyond InfiniBand's", SECONDS),
    _planned("MEDIUM_START", "LL128: start", SECONDS),
    _planned("MEDIUM_STEP", "LL128: a step in a ring", SECONDS),
    (
        "catalog.nccl_constants:MEDIUM_STEP_OVER",
        "LL128: a step in a ring over nodes",
        SECONDS,
        None,
        "fitted to one gather of 80 H100; NCCL plans 1.9 us",
        ("nccl_tests",),
    ),
    (
        "catalog.nccl_constants:MEDIUM_LEAST",
        "LL128: the least of a gather's step",
        BYTES,
        None,
        "gathers of 16 B200; below it NCCL's LL128 is left out",
        ("nccl_tests",),
    ),
    _planned("MEDIUM_TREE_STEP", "LL128: a step in a tree", SECONDS),
    _planned("MEDIUM_SHARE", "LL128: of the bandwidth", SHARE),
    _planned("PAT_START", "PAT: start", SECONDS),
    _planned("PAT_OVERLAP", "PAT: levels in one step", RATIO),
    _planned("PAT_RANK", "PAT: what each rank adds", SECONDS),
    _planned("PAT_SHARE", "PAT: of the bandwidth", SHARE),
    _planned("SMALL_STEP_BETWEEN", "LL between nodes: the host", SECONDS),
    _planned("SMALL_ON_TWO", "LL on two nodes, at most", BANDWIDTH),
    _planned("SMALL_ON_MORE", "LL on more nodes, at most", BANDWIDTH),
)
ROWS: tuple[Row, ...] = _OF_GPUS + _OF_STEPS + _OF_WIRES + _OF_RANGES


def value_of(key: str) -> float:
    """Return the value of a constant in the code."""
    module, _, path = key.partition(":")
    name, _, rest = path.partition(".")
    constant = getattr(_BY_NAME[module], name)
    if isinstance(constant, Mapping):
        owner, _, rest = rest.partition(".")
        constant = constant[owner]
    return float(getattr(constant, rest) if rest else constant)
