"""A published story of a cluster that waited for its network, rebuilt from its own numbers.

The story (Pingdo 2025): 400 billion parameters on 16,384 GPUs; a step of 2.2 s, of which GPUs idle
1.8 s while 300 GB of gradients per second and node go over TCP on 400 Gb/s Ethernet; with RDMA the
communication is 12 % of the step, and training five times as fast. It names neither the plan nor
the batch: those are what the reader can vary.
"""

from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS
from engine.core.units import (
    GB,
    Bandwidth,
    Bytes,
    Count,
    Gbit,
    Parameters,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.states import MIXED_PRECISION
from engine.simulate.memory.allocator import usable_bytes

PARAMETERS: Parameters = 400e9
GPUS: Count = 16_384
GPUS_PER_NODE: Count = 8
STEP: Seconds = 2.2
IDLE: Seconds = 1.8
CLAIMED_RATE: Bandwidth = 300 * GB
CLAIMED_SHARE_AFTER: Share = 0.12
CLAIMED_GAIN: Ratio = 5.0
NODE_LINE_RATE: Bandwidth = GPUS_PER_NODE * 400 * Gbit
GPU = "H100-SXM"
GRADIENT: Bytes = 2.0  # of one parameter, in bf16
PER_TOKEN = 6.0  # operations per parameter and token


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltStory:
    """Numbers derived from the published story.

    Attributes:
        idle: share of the step.
        working: time of a step in which GPUs work.
        step_after: step whose communication is the told share, with the same work.
        gain: step over `step_after`.
        claimed_share: of the ports of a node that the told rate fills.
        claimed_bytes: that the told rate moves in the idle time, per node.
        node_bytes: gradients that a node must send for one step, one way.
        at_line: time that those take if the ports are full.
        rate_before: at which they leave a node if they take all of the idle time.
        rate_after: likewise in what the told share leaves them after the repair.
        states: bytes of parameters, gradients and optimizer states on a GPU.
        capacity: of a GPU, as far as it may be filled.
        tokens: of a step that keeps all GPUs at work for `working`.
    """

    idle: Share
    working: Seconds
    step_after: Seconds
    gain: Ratio
    claimed_share: Share
    claimed_bytes: Bytes
    node_bytes: Bytes
    at_line: Seconds
    rate_before: Bandwidth
    rate_after: Bandwidth
    states: Bytes
    capacity: Bytes
    tokens: Tokens


def rebuild_story(sharing: Count, utilization: Share) -> RebuiltStory:
    """Return the derived numbers if `sharing` GPUs hold one copy of the model.

    `utilization` is the MFU in the time in which they work.
    """
    working = STEP - IDLE
    after = working / (1 - CLAIMED_SHARE_AFTER)
    gpu = ACCELERATORS[GPU]
    sent = node_gradient_bytes(sharing)
    states = MIXED_PRECISION
    return RebuiltStory(
        idle=IDLE / STEP,
        working=working,
        step_after=after,
        gain=STEP / after,
        claimed_share=CLAIMED_RATE / NODE_LINE_RATE,
        claimed_bytes=CLAIMED_RATE * IDLE,
        node_bytes=sent,
        at_line=sent / NODE_LINE_RATE,
        rate_before=sent / IDLE,
        rate_after=sent / (CLAIMED_SHARE_AFTER * after),
        states=(states.parameter + states.gradient + states.optimizer) * PARAMETERS / sharing,
        capacity=usable_bytes(gpu.memory),
        tokens=working * GPUS * gpu.peak["bf16"] * utilization / (PER_TOKEN * PARAMETERS),
    )


def node_gradient_bytes(sharing: Count) -> Bytes:
    """Return the bytes that a node sends to all-reduce gradients over replicas, one way.

    GPUs of a node that hold the same part add theirs over NVLink first; then each part goes
    around a ring of nodes (a hierarchical all-reduce).
    """
    buffer = GRADIENT * PARAMETERS * min(1.0, GPUS_PER_NODE / sharing)
    return ring_bytes_sent(buffer, GPUS // max(GPUS_PER_NODE, sharing))
