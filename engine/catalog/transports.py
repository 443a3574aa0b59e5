"""Network transports of NCCL: latencies, protocols, bandwidth ramps.

The one place for the latency of a hop, by transport and class of message: `step` of large messages
(Simple), `step_small` of small ones (LL). A page that wants another value says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, KiB, MiB, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """NCCL's latencies and protocol properties on one kind of link.

    Attributes:
        start_small: start of a collective in LL, the protocol for small messages.
        step_small: one step of it.
        share_small: of the bandwidth of large messages that LL reaches; 0: the link has no LL.
        start: start of a collective in the protocol for large messages (Simple).
        step: one step of it.
        ramp: so much of a large message is sent at less than full speed.
        scale: the size at which half of that has been reached.
        share: of the bandwidth that InfiniBand reaches on ports of the same line rate.
        medium: LL128, the protocol between LL and Simple, runs in rings over nodes.
        planned: a tree of nodes reaches the shares that NCCL plans with (`TREE_BY_SIZE`).
        medium_ring: what LL128 carries at most in one channel of a ring.
        medium_tree: likewise of a tree over three nodes and more.
        tuner: whose regions choose algorithm and protocol (`nccl_tuner.py`); empty: NCCL's own
            model.
        eager: messages up to this size go without asking the receiver first.
        step_eager: one step of those.
        declared: latency that the network's plug-in tells NCCL, which plans with it.
        post: what the host takes to post a message, as NCCL plans.
        pairs: two GPUs share a switch with their ports, so that NCCL finds its balanced tree.
        switch_chunk: largest chunk of a tree of switches (NVLSTree) on four nodes and more.
        trays: its switches join the trays of a rack, so that ranks of one node have its steps.
    """

    start_small: Seconds = 0.0
    step_small: Seconds = 0.0
    share_small: Share = 0.0
    start: Seconds = 0.0
    step: Seconds = 0.0
    ramp: Bytes = 0.0
    scale: Bytes = 1.0
    share: Share = 1.0
    medium: bool = True
    planned: bool = False
    medium_ring: Bandwidth = inf
    medium_tree: Bandwidth = inf
    tuner: str = ""
    eager: Bytes = 0.0
    step_eager: Seconds = 0.0
    declared: Seconds = 0.0
    post: Seconds = 1.0 * MICRO
    pairs: bool = False
    switch_chunk: Bytes = 64 * KiB
    trays: bool = False


# Starts, the step of LL inside a node and LL's share (88 of 235, 141 of 370 GB/s) are those that
# NCCL's tuner plans with (tuning.cc). The other figures are fitted by
# `tests/validation/fit_collectives.py` to the measured all-reduce of 8 A100, 8 H100 and 8 H200, of
# four nodes with InfiniBand and of two with EFA v1.
LAUNCH: Seconds = 4.5 * MICRO  # from one kernel to the next, and until all ranks have arrived
NVLINK = Transport(
    start_small=6.6 * MICRO,
    step_small=0.6 * MICRO,
    share_small=0.38,
    start=8.4 * MICRO,
    step=2.04 * MICRO,
    ramp=43.3 * MiB,
    scale=41.0 * MiB,
)
# One collective in the switch (NVLS), and the ranks beyond which its bus bandwidth does not grow.
SWITCH = Transport(start=23.1 * MICRO, ramp=20.4 * MiB, scale=23.9 * MiB)
SWITCH_MOST: Count = 8
# The share of a ring's bandwidth that its transfers reach, on Hopper and on Blackwell: 414, 436,
# 460 and 473 against 365 GB/s of bus bandwidth with 5 to 8 H200; 778, 811 and 838 against 682 with
# 6 to 8 B200, and 845 against 695 with 8 B300 (NCCL plans with 0.85).
SWITCH_SHARE: Share = 0.833
SWITCH_SHARE_BLACKWELL: Share = 0.79
# What one channel carries at most in LL128, in a ring and in a tree over three nodes and more, on
# Hopper and on Blackwell (tuning.cc, perChMaxRingLL128Bws, perChMaxTreeLL128Bws).
_HOPPER = (36.7 * GB, 29.0 * GB)
_BLACKWELL = (40.0 * GB, 20.0 * GB)

INFINIBAND = Transport(step_small=9.3 * MICRO, share_small=0.38, step=11.4 * MICRO, planned=True)
# Converged Ethernet: 320 of 400 GB/s of bus bandwidth on four nodes of 8 H100 (NCCL's issue 1221),
# where InfiniBand has 380 (NVIDIA's GTC slides). NCCL leaves LL128 out where a GPU and its port see
# each other through a host bridge (tuning.cc, typeInter up to PATH_PXN), as in virtual machines: of
# these are all public curves of gathers over Ethernet, and none shows it.
ROCE = replace(INFINIBAND, share=0.84, medium=False)
# The plug-in for EFA v1 leaves NCCL only Simple, since packets arrive out of order, and sends
# eagerly up to 8 KiB (aws-ofi-nccl: platform-aws.c, nccl_ofi_param.h).
EFA_V1 = Transport(
    step=87.4 * MICRO,
    ramp=31.9 * MiB,
    scale=9.94 * MiB,
    eager=8 * KiB,
    step_eager=66.7 * MICRO,
)


def _later_efa(
    step: Seconds,
    tuner: str,
    channel: tuple[Bandwidth, Bandwidth],
    *,
    declared: Seconds = 35 * MICRO,
    post: Seconds = 1.0 * MICRO,
    pairs: bool = True,
) -> Transport:
    """Return an EFA transport with in-order packets for LL, at half the latency in LL.

    The latency that it declares and its chunks for trees of switches are those of the plug-in
    (platform-aws.cpp).
    """
    return Transport(
        step_small=step / 2,
        share_small=0.38,
        step=step,
        planned=True,
        tuner=tuner,
        declared=declared,
        post=post,
        medium_ring=channel[0],
        medium_tree=channel[1],
        pairs=pairs,
        switch_chunk=512 * KiB,
    )


# Nothing is fitted to a curve of these. Amazon's announcements: the second generation is half again
# as fast as the first, the third has 35 % less latency, the fourth is 18 % faster than that. The
# pages of the second and the third could not be read again. Sixteen curves of the second stand in
# tests/validation/unseen_curves.py. Its tuner plans with 20 us for 8 bytes between two nodes of the
# second, 18 of the third, 3 more in Simple (aws-ofi-nccl, nccl_ofi_model.cpp): with those, the
# curves would be 4 to 18 % off instead of 3 to 13. Of the fourth one test is public: 8 to 256 bytes
# on two p6-b200 take 51 to 57 us (github.com/dstackai/dstack, pull request 3961), 52 here.
EFA_V2 = _later_efa(
    EFA_V1.step / 1.5, "efa-v2", _HOPPER, declared=75 * MICRO, post=2 * MICRO, pairs=False
)
EFA_V3 = _later_efa(EFA_V2.step * 0.65, "efa-v3", _HOPPER)
EFA_V4 = _later_efa(EFA_V3.step / 1.18, "efa-v4", _BLACKWELL)
# Links and switches of one rack that reach other trays, and no network. A step of LL takes longer
# than in a node, where NCCL plans the same 0.6 us: fitted by `tests/validation/fit_steps.py` to
# gathers of up to 64 KiB by 8 and by 32 GB200, each of which alone gives 1.5 us. Why, no source
# tells.
NVLINK_NETWORK = replace(NVLINK, share=1.0, step_small=1.5 * MICRO, trays=True)

# By the names of a run file.
TRANSPORTS: Mapping[str, Transport] = {
    "infiniband": INFINIBAND,
    "efa-v1": EFA_V1,
    "efa-v2": EFA_V2,
    "efa-v3": EFA_V3,
    "efa-v4": EFA_V4,
    "roce": ROCE,
    "nvlink-network": NVLINK_NETWORK,
}
