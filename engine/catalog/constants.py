"""Achieved shares of GPU datasheets: eight constants per type, and common constants.

`memory`, `scale_up` and `network` are read off measured bandwidths (BabelStream, nccl-tests); the
others of A100, H100 and the Blackwells are fitted by `tests/validation/fit.py` to published
training runs, near published kernel benchmarks. A type without runs takes the best products of its
benchmarks, less 6 % that the power limit costs in training, and the attention of its generation;
MI355X takes hipBLASLt's products and AITER's attention as HipKittens measured them (2025), MI300X
and MI325X, of which no such table is known, its attention in the ratio of their products;
V100, L40S and the other cards have no benchmark in the tables and take estimates from their
generation; Gaudi, Trainium and TPU take another type's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.accelerators import Gpu
from engine.catalog.transports import SWITCH_SHARE, SWITCH_SHARE_BLACKWELL
from engine.core.units import MICRO, MILLI, Bytes, Count, GiB, MiB, Ratio, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class AchievedShares:
    """Shares of the datasheet that software reaches on one type of GPU.

    Attributes:
        matmul: of the dense 16-bit peak, in large matrix products (clocks under the power limit).
        matmul_fp8: of the dense fp8 peak, likewise.
        attention_forward: of the dense 16-bit peak, in fused attention with heads of 128, forward.
        attention_backward: likewise, backward.
        fill: time to load the first operands of a tile and to store its result.
        memory: of the bandwidth of the memory, in streaming kernels.
        scale_up: of the line rate of the scale-up links, in collectives of large messages.
        network: of the line rate of the network ports, likewise.
    """

    matmul: Share
    matmul_fp8: Share
    attention_forward: Share
    attention_backward: Share
    fill: Seconds
    memory: Share
    scale_up: Share
    network: Share


def _achieved(
    products: tuple[Share, Share],
    attention: tuple[Share, Share],
    fill: Seconds,
    memory: Share,
    scale_up: Share,
) -> AchievedShares:
    return AchievedShares(
        matmul=products[0],
        matmul_fp8=products[1],
        attention_forward=attention[0],
        attention_backward=attention[1],
        fill=fill,
        memory=memory,
        scale_up=scale_up,
        network=0.88,  # 192 of 200 GB/s on DGX A100, 380 of 400 on DGX H100, 42.6 of 50 on EFA v1
    )


_AMPERE = _achieved((0.768, 0.74), (0.6064, 0.4911), 3.42 * MICRO, 0.835, 0.78)
_HOPPER = _achieved((0.6816, 0.617), (0.5874, 0.4426), 3.825 * MICRO, 0.887, 0.82)
_B200 = _achieved((0.4515, 0.6127), (0.5872, 0.4447), 1.697 * MICRO, 0.82, 0.76)
_GB200 = _achieved((0.602, 0.5637), (0.5864, 0.4456), 1.657 * MICRO, 0.82, 0.76)
_B300 = _achieved((0.5765, 0.5942), (0.5967, 0.4705), 1.604 * MICRO, 0.82, 0.76)
_GB300 = _achieved((0.6039, 0.6447), (0.6121, 0.5115), 1.368 * MICRO, 0.82, 0.76)
# Other types: (16 bits, 8 bits) of products, (forward, backward) of attention.
_VOLTA = _achieved((0.70, 0.70), (0.45, 0.35), 4.0 * MICRO, 0.85, 0.81)
_AMPERE_PCIE = _achieved((0.71, 0.71), (0.56, 0.47), 3.4 * MICRO, 0.835, 0.78)
_HOPPER_PCIE = _achieved((0.62, 0.60), (0.55, 0.45), 3.6 * MICRO, 0.887, 0.78)
_ADA = _achieved((0.70, 0.60), (0.50, 0.40), 3.4 * MICRO, 0.85, 0.78)
# GeForce has no peer-to-peer over PCIe: 12 of 31.5 GB/s from one RTX 4090 to another, by the host.
_GEFORCE = replace(_ADA, scale_up=12 / 31.5)
_MI300X = _achieved((0.48, 0.42), (0.36, 0.31), 4.0 * MICRO, 0.78, 0.70)
_MI325X = _achieved((0.56, 0.49), (0.42, 0.36), 4.0 * MICRO, 0.78, 0.70)
_MI355X = _achieved((0.594, 0.615), (0.45, 0.39), 4.0 * MICRO, 0.78, 0.70)

ACHIEVED: Mapping[str, AchievedShares] = {
    "V100 SXM2 32 GB": _VOLTA,
    "V100 SXM3 32 GB": _VOLTA,
    "A100 SXM 40 GB": _AMPERE,
    "A100 SXM 80 GB": _AMPERE,
    "A100 PCIe 80 GB": _AMPERE_PCIE,
    "A100 PCIe 40 GB": _AMPERE_PCIE,
    "A800 SXM 80 GB": _AMPERE,
    "H100 SXM": _HOPPER,
    "H100 NVL": _HOPPER_PCIE,
    "H20": _HOPPER,
    "GH200 96 GB": _HOPPER,
    "GH200 144 GB": _HOPPER,
    "H100 PCIe": _HOPPER_PCIE,
    "H200 SXM": _HOPPER,
    "H800 SXM": _HOPPER,
    "B200 SXM": _B200,
    "GB200 NVL72": _GB200,
    "B300 SXM": _B300,
    "GB300 NVL72": _GB300,
    "VR200 NVL72": _GB300,
    "Instinct MI250X": _MI300X,
    "Instinct MI300X": _MI300X,
    "Instinct MI325X": _MI325X,
    "Instinct MI355X": _MI355X,
    "L40S": _ADA,
    "L4": _ADA,
    "RTX PRO 6000 Blackwell": _ADA,
    "RTX 4090": _GEFORCE,
    "RTX 5090": _GEFORCE,
    "A10": _AMPERE_PCIE,
    "Gaudi 3": _HOPPER,
    "TPU v5p": _AMPERE,
    "TPU v6e": _AMPERE,
    "TPU7x": _AMPERE,
    "Trainium2": _HOPPER,
    "Trainium3": _HOPPER,
}


# Types of which neither training runs nor large products were measured, beside a reader's own.
_GUESSED = (
    *("V100", "L40S", "L4", "RTX", "A10", "Gaudi", "TPU", "TPU7x", "Trainium2", "Trainium3"),
    "VR200",
)
# How far off predictions with another type's shares are, either way: V100 1.4 to 2.4 times too fast
# (30 to 50 TFLOP/s published), MI355X 1.2 to 1.35 before its products were measured, TPU v5p 0.73
# (MaxText's table).
GUESS_ERROR: Ratio = 1.5


def is_guessed(gpu: Gpu) -> bool:
    """Return whether the constants of a GPU are another type's, and nothing confirms them."""
    return gpu.name not in ACHIEVED or gpu.name.split()[0] in _GUESSED


def achieved_shares(gpu: Gpu) -> AchievedShares:
    """Return the constants of a GPU; one that is not in the table takes those of the H100."""
    return ACHIEVED.get(gpu.name, _HOPPER)


def switch_share(gpu: Gpu) -> Share:
    """Return the share of a ring's bandwidth that sums in the switch reach; 0: it cannot add."""
    if not gpu.switch_adds:
        return 0.0
    return SWITCH_SHARE_BLACKWELL if "fp4" in gpu.peak else SWITCH_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonConstants:
    """Constants common to all GPU types and training frameworks.

    Attributes:
        hidden: of a layer's own collectives, where the software runs them beside products.
        exchange_hidden: of the exchange of tokens, where it runs beside another micro-batch.
        cover: of the backward products' time, that hides a collective issued beside it.
        exposed_sends: of the messages between pieces of an interleaved pipeline.
        host: reading the batch, the loss on the host, logging, once per step.
        deviation: standard deviation of the speed of GPUs of one type; the slowest sets the pace.
        layer_deviation: likewise where parameters are sharded: all GPUs meet in every layer, so
            that what varies from layer to layer does not even out over the step.
        taken: of the time that a collective's bytes need on the scale-up links: what products
            beside it lose to it in multiprocessors (24 of 108 to 132), memory bandwidth and power.
        fetch_ahead: of the computation, that hides the gathers of DeepSpeed's ZeRO-3.
        expert_launches: of the host, for the hundreds of small kernels of a layer with experts,
            forward, and twice as long backward, however fast the GPU is.
        grace_launches: likewise where the host is a Grace: the recipes for its superchips capture
            attention and router of each layer as CUDA graphs.
        dense_launches: of the host, for a layer without experts in Megatron, each of the forward
            pass, the gradients of inputs and those of weights.
        matmul_fp4: of the dense fp4 peak, in large matrix products.
        kernel_gap: from the end of a small kernel to the start of the next.
        first_attention: of the rate of FlashAttention-2, that the first FlashAttention reaches.
        busiest: tokens of the busiest rank of experts over their mean, where nothing forces the
            router to be even.
        expert_product: of one expert in a grouped product: its kernel starts and drains alone.
        exchange: of the rate of other collectives, that an all-to-all of copies reaches.
        exchange_nodes: likewise, kernels that send one copy for all experts of a node (DeepEP).
        latent_forward: of the rate of fused attention, that it reaches where queries and keys are
            wider than values (latent attention), forward.
        latent_backward: likewise, backward.
        expert_biases: bytes per element of a token's copy that biases of experts move, forward and
            backward.
        unfused_copy: bytes per element of a token's copy for an expert that separate kernels for
            padding, weights and conversion move, forward, and again backward.
    """

    hidden: Share
    exchange_hidden: Share
    cover: Share
    exposed_sends: Share
    host: Seconds
    deviation: Share
    layer_deviation: Share
    taken: Share
    fetch_ahead: Share
    expert_launches: Seconds
    grace_launches: Seconds
    dense_launches: Seconds
    matmul_fp4: Share
    kernel_gap: Seconds
    first_attention: Share
    busiest: Ratio
    expert_product: Seconds
    exchange: Share
    exchange_nodes: Share
    latent_forward: Share
    latent_backward: Share
    expert_biases: Bytes
    unfused_copy: Bytes


# Fitted by `tests/validation/fit.py --common` to all published runs together, near what is assumed
# for each before any run is looked at (`COMMON_PRIOR` there). The gap between kernels is assumed:
# two microseconds, what profiles of A100 and H100 show.
COMMON = CommonConstants(
    hidden=0.5034,
    exchange_hidden=0.7108,
    cover=0.5,
    exposed_sends=0.2519,
    host=2.192 * MILLI,
    deviation=0.008917,
    layer_deviation=0.02142,
    taken=0.45,
    fetch_ahead=0.432,
    expert_launches=2.531 * MILLI,
    grace_launches=1.606 * MILLI,
    # Between the 1.0 of 120 kernels and collectives of 8 us (a layer with experts has 300) and the
    # 1.4 of SimuMax's B200 without graphs: 4.9 and 5.1 ms for a layer of Llama 3 70B under TP 8,
    # whose kernels take 4.0. On a Grace less, in the ratio of the two above.
    dense_launches=1.2 * MILLI,
    matmul_fp4=0.4422,
    kernel_gap=2 * MICRO,
    first_attention=0.6234,
    busiest=1.155,
    # Grouped products and attention of SimuMax's B200 and A100 (its configs/system): 3 us fit the
    # former best; the latter's latent attention reaches 0.82 and 0.87 of the other's rate forward,
    # 0.76 and 0.78 backward.
    expert_product=3 * MICRO,
    latent_forward=0.85,
    latent_backward=0.77,
    # NCCL's all-to-all on 8 B200: 0.597 of the line rate (SimuMax), where an all-reduce has 0.76.
    exchange=0.785,
    # DeepEP: 153 to 158 of 200 GB/s on H800, 635 of 900 GB/s on Blackwell (its copies that stay on
    # their rank left out), where other collectives reach 0.82 and 0.76.
    exchange_nodes=0.94,
    expert_biases=103.1,
    unfused_copy=8.266,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAllowances:
    """Memory that reports count in addition to tensors.

    Attributes:
        fragments: of what is in use, that the caching allocator reserves beyond it.
        fragments_alone: likewise with one rank that trains all parameters. It has no streams of
            collectives: blocks of one stream serve no other.
        workspace: of the matrix libraries, which the allocator counts.
        context: of CUDA, which only nvidia-smi counts; kernels are loaded when they first run.
        loaded_context: likewise, with all kernels loaded at the start, as before CUDA 11.7.
        channels: of NCCL, likewise.
    """

    fragments: Share
    fragments_alone: Share
    workspace: Bytes
    context: Bytes
    loaded_context: Bytes
    channels: Bytes


# What lies outside PyTorch's allocator was measured in 27 steps of all parameters on an H100 or an
# H200; what one rank reserves is fitted to the same steps, in steps of 0.01. The context of an A100
# in 2022 was measured as well (bigscience2022). The others are what
# `tests/validation/memory_report.py --fit` finds on a grid for the published peaks.
ALLOWANCES = MemoryAllowances(
    fragments=0.08,
    fragments_alone=0.02,
    workspace=0.1 * GiB,
    context=821 * MiB,
    loaded_context=1573 * MiB,
    channels=0.75 * GiB,
)


# Share of a GPU's memory that a plan leaves free unless its job says otherwise: predicted peaks err
# by 3 % in the mean (tests/validation), and programs of others may hold some.
KEPT_FREE: Share = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class TightRuns:
    """Published runs of FSDP that need the allocator to give free blocks back, by the model.

    Attributes:
        runs: their number.
        middle: measured over predicted step, the middle run.
        slowest: likewise, the slowest.
    """

    runs: Count
    middle: Ratio
    slowest: Ratio


# `tests/validation/test_beyond.py` counts them.
TIGHT_RUNS = TightRuns(runs=17, middle=1.035, slowest=1.337)


# A load from a GPU's memory takes 690 cycles on a GH200 at 1.98 GHz, 460 on a V100 at 1.53, 860 on
# a B200 at 1.965; the cycles are measured (dewing), the clocks those of the datasheets.
LOAD: Seconds = 690 / 1.98e9
LOAD_LOW: Seconds = 460 / 1.53e9
LOAD_HIGH: Seconds = 860 / 1.965e9
