"""How NCCL's messages travel over each kind of link: latencies, protocols, ramps.

The one place for the latency of a hop, by transport and class of message: `step` of large messages
(Simple), `step_small` of small ones (LL). A page that wants another value says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from engine.basis.units import GB, MICRO, Bandwidth, Bytes, Count, KiB, MiB, Ratio, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """How NCCL's messages travel over one kind of link, beside its bandwidth.

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
        tuner: whose regions choose algorithm and protocol (`tuned.py`); empty: NCCL's own model.
        eager: messages up to this size go without asking the receiver first.
        step_eager: one step of those.
        declared: latency that the network's plug-in tells NCCL, which plans with it.
        post: what the host takes to post a message, as NCCL plans.
        pairs: two GPUs share a switch with their ports, so that NCCL finds its balanced tree.
        switch_chunk: largest chunk of a tree of switches (NVLSTree) on four nodes and more.
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
# One collective in the switch (NVLS), and the share of a ring's bandwidth that its transfers reach:
# 414, 436, 460 and 473 against 365 GB/s of bus bandwidth with 5 to 8 H200 (NCCL plans with 0.85).
SWITCH = Transport(start=23.1 * MICRO, ramp=20.4 * MiB, scale=23.9 * MiB)
SWITCH_SHARE: Share = 0.833
# Of the bandwidth of a ring a tree reaches this share (tuning.cc).
TREE_SHARE: Share = 0.92
# And of that again, where one GPU carries all of a tree's messages over a port of its own: NCCL's
# balanced tree takes a second GPU at the same switch, and Hopper and later make do without
# (search.cc, "Try a simpler tree"; tuning.cc, NCCL_TOPO_PATTERN_TREE).
TREE_ON_ONE: Share = 0.85
# What a tree of nodes reaches by size of the message in Simple, from 64 bytes on, each twice the
# last (tuning.cc, treeCorrectionFactor): chunks that are too small for all channels.
TREE_BY_SIZE: tuple[Share, ...] = (
    *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
    *(0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9),
)
# The switch of every node adds, then a tree of nodes, then the switches copy (NVLSTree): latency of
# the switches, and what a step between nodes takes beyond that of InfiniBand, 20.9 us together
# (tuning.cc).
SWITCH_TREE: Seconds = 25 * MICRO
SWITCH_TREE_STEP: Seconds = 9.5 * MICRO
# Its channels on Hopper, and its chunks: the largest on fewer than four nodes, and below so many
# chunks per channel and GPU of a node at most so large (nvls.cc, NVLS_NCHANNELS_SM90 and
# NCCL_NVLS_CHUNKSIZE; enqueue.cc, calcCollChunking).
SWITCH_TREE_CHANNELS: Count = 16
SWITCH_TREE_CHUNK: Bytes = 128 * KiB
SWITCH_TREE_CHUNKS: tuple[tuple[Count, Bytes], ...] = (
    (32, 256 * KiB),
    (16, 128 * KiB),
    (4, 64 * KiB),
    (1, 32 * KiB),
)

# LL128, NCCL's protocol for sizes between LL and Simple: start, a step inside a node in a ring and
# in a tree, the share of the bandwidth that a ring is planned with, and the 120 of 128 bytes that a
# tree is planned with. Between nodes its step is that of LL. All from tuning.cc, none fitted.
MEDIUM_START: Seconds = 14.0 * MICRO
MEDIUM_STEP: Seconds = 1.9 * MICRO
MEDIUM_TREE_STEP: Seconds = 1.25 * MICRO
# But what a step takes in a ring that crosses nodes, in a node and between two, beside the latency
# of the network: fitted by `tests/validation/fit_steps.py` to gathers of 80 H100. Gathers of 16
# B200 and of 256 H100 with EFA, which it has not seen, agree. Why it is four times as long as
# planned, no source tells: NCCL plans with what the host takes to post a message, 1 or 2 us.
MEDIUM_STEP_OVER: Seconds = 7.6 * MICRO
MEDIUM_SHARE: Share = 0.92
MEDIUM_DATA: Share = 120 / 128
# What a tree reaches by size in LL128, as above (tuning.cc, treeCorrectionFactor).
MEDIUM_BY_SIZE: tuple[Share, ...] = (
    *(1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6),
    *(0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0),
)
# Its chunks: 15 of 16 parts of one of eight buffers, for 640 threads with 120 elements of 8 bytes,
# halved until there are enough of them (device.h; enqueue.cc, calcCollChunking).
MEDIUM_CHUNK: Bytes = 640 * 120 * 8 * 15 / 16
MEDIUM_SPLIT_CHUNK: Bytes = 128 * KiB
MEDIUM_SMALLEST_CHUNK: Bytes = 32 * KiB
# What NCCL plans that a tree reaches by size in LL, as above.
SMALL_BY_SIZE: tuple[Share, ...] = (
    *(1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5),
    *(0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0),
)
# What one channel carries at most in LL128, in a ring and in a tree over three nodes and more, on
# Hopper and on Blackwell (tuning.cc, perChMaxRingLL128Bws, perChMaxTreeLL128Bws).
_HOPPER = (36.7 * GB, 29.0 * GB)
_BLACKWELL = (40.0 * GB, 20.0 * GB)
# PAT: its start, the part of a step between nodes that each level of its tree takes, what each rank
# adds, and its share of the bandwidth (tuning.cc).
PAT_START: Seconds = 8.0 * MICRO
PAT_OVERLAP: Ratio = 3.5
PAT_RANK: Seconds = 2.8 * MICRO
PAT_SHARE: Share = 0.75
# LL in a ring over nodes: a step inside a node takes the host that posts to the network this long,
# and its bandwidth is bound by the host, on two nodes and on more (tuning.cc, netOverhead and
# llMaxBws of Intel's processors).
SMALL_STEP_BETWEEN: Seconds = 1.0 * MICRO
SMALL_ON_TWO: Bandwidth = 39.0 * GB
SMALL_ON_MORE: Bandwidth = 20.4 * GB
# Messages to and from so many ranks are under way at once (enqueue.cc,
# NCCL_MAX_DEV_WORK_P2P_PER_BATCH); the next follow.
MESSAGES_AT_ONCE: Count = 8

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
    """An EFA whose packets are written in order for LL: its latency, and half of it for LL.

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
# Links and switches of one rack that reach other nodes: the steps of a node, and no network.
NVLINK_NETWORK = replace(NVLINK, share=1.0)

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
