"""Constants of NCCL's algorithms and protocols: shares, steps and chunks.

Those of a kind of link are in `transports.py`. All but one are from NCCL's source.
"""

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, KiB, Ratio, Seconds, Share

# The release whose choices and variables these pages follow.
VERSION = "2.30"
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
# All of these pass at least so much in one step. With half of it 16 B200 take 78 us to gather and
# 83 to scatter, as LL and Simple do, and 128 from here on: below, nothing shows the long step, and
# a gather is timed as if NCCL left LL128 out.
MEDIUM_LEAST: Bytes = 128 * KiB
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
