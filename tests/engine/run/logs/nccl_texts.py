"""Texts of nccl-tests and NCCL as several versions print them.

Facts retyped from public reports (NVIDIA's nccl-tests issues 119, 196, 294, nccl issues 1244, 1368,
1453, 1595 and its user guide's page on logging), hosts renamed. Each is (text, what it must say).
"""

HEAD = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"
    "            (us)  (GB/s)  (GB/s)\n"
)
ROW = (
    " 17179869184    4294967296     float     sum      -1    62648  274.23  479.90      0"
    "    62636  274.28  479.99      0\n"
)
# NCCL 2.18 on A100, before 2.13 of the tests: no root, an error where #wrong stands now.
H20 = (
    "#       size         count      type   redop     time   algbw   busbw  error     time   algbw"
    "   busbw  error\n"
    "           8             2     float     sum    47.60    0.00    0.00  2e-07    47.54    0.00"
    "    0.00  2e-07\n"
)
# Open MPI with --timestamp-output.
STAMPED = (
    "Thu Jul 18 15:41:05 2024<stdout>:#       size         count      type   redop    root     time"
    "   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "Thu Jul 18 15:41:05 2024<stdout>:     1048576        262144     float     sum      -1    354.9"
    "    2.95    5.76      0    345.7    3.03    5.92      0\n"
)
# A launcher that numbers every piece, in the middle of a line too.
PIECES = (
    "[0]      1048576        262144     float     sum      -1[0]    1626.5    0.64    1.24      0"
    "[0]    2302.3    0.46    0.87      0\n"
    "[0]     67108864      16777216     float     sum      -1[0]     24410    2.75    5.27      0"
    "[0]     24425    2.75    5.27      0\n"
)
RANKS = "".join(
    f"#  Rank {rank:2d} Group  0 Pid {313 + rank:6d} on     node-{1 + rank // 8} device"
    f" {rank % 8:2d} [000{rank}:18:00] NVIDIA H100 80GB HBM3\n"
    for rank in range(8)
)
VERSIONED = (
    "# nccl-tests version 2.20.0 (b4d5bee) nccl-headers=23102 nccl-library=23102\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 8192 maxBytes 17179869184 step: 2(factor) warmup iters: 10\n"
    "#\n# Using devices\n" + RANKS + HEAD + ROW
)
# Per-iteration columns of 2.19 and later between the two halves.
PER_ITERATION = (
    "  1073741824     268435456     float     sum      -1   4029.4  266.48  466.33       0   4011.2"
    "   4102.9   4098.1     0.7   4016.4  267.34  467.84       0   4001.0   4090.0   4088.0     0.6"
    "\n"
)
# Two tests in one text.
TWO_TESTS = (
    "# Collective test starting: all_gather_perf\n" + HEAD + " 17179869184     536870912     float"
    "    none      -1    41594  413.04  361.41      0    41588  413.10  361.46      0\n"
    "# Collective test starting: reduce_scatter_perf\n" + HEAD + " 17179869184     536870912     "
    "float     sum      -1    41422  414.75  362.91      0    41420  414.77  362.92      0\n"
)
COMMAS = (
    "1.073.741.824;268.435.456;float;sum;-1;4.029,4;266,48;466,33;0;4.016,4;267,34;467,84;0\n"
    "   16777216       4194304     float     sum      -1    413,6   40,56   70,98      0    412,0"
    "   40,72   71,26      0\n"
)
MARKDOWN = "| 16777216 | 4194304 | float | sum | -1 | 413.6 | 40.56 | 70.98 | 0 |\n"
GROUPED = "17,179,869,184 4,294,967,296 float sum -1 62,648 274.23 479.90 0\n"

INIT = """\
node-1:313:402 [0] NCCL INFO NCCL version 2.27.7+cuda12.8
node-1:313:402 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_3:1/IB [2]mlx5_4:1/IB \
[3]mlx5_5:1/IB [RO]; OOB eth0:10.0.0.1<0>
node-1:313:402 [0] NCCL INFO Using network IB
node-1:313:402 [0] NCCL INFO NVLS multicast support is available on dev 0
node-1:313:402 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5
node-1:313:402 [0] NCCL INFO NCCL_ALGO set by environment to Ring
node-2:914:999 [0] NCCL INFO NCCL_IB_QPS_PER_CONNECTION set by environment to 2.
node-1:313:402 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
node-1:313:402 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
node-1:313:402 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via SHM/direct/direct
node-1:313:402 [0] NCCL INFO ncclCommInitRankConfig comm 0x55 rank 0 nranks 16 cudaDev 0 nvmlDev 0 \
busId 18000 commId 0x9 - Init COMPLETE
[2026-05-05 06:16:47] node-2:914:914 [3] plugin/net.cc:334 NCCL WARN Failed to initialize any NET \
plugin
"""
OLD_CHOICE = "[0] NCCL INFO 805306368 Bytes -> Algo 1 proto 2 time 3970.683594\n"
NEW_CHOICE = (
    "node-01:631871:631871 [0] NCCL INFO AllReduce: 33554432 Bytes -> Algo RING proto SIMPLE "
    "channel{Lo..Hi}={0..31}\n"
)
MIDDLE_CHOICE = (
    "node-0:309:309 [0] NCCL INFO AllGather: 37756928 Bytes -> Algo 1 proto 2 time 2860.2\n"
)
SYMMETRIC = (
    "node-0:309:309 [0] NCCL INFO AllReduce [Symmetric]: 1048576 Bytes -> Kernel AllReduce_AGxLL_R"
    " nchannels 8 nthreads 512\n"
)

# Name -> (text, size of a row, its time in microseconds, its bus bandwidth in GB/s).
TABLES = {
    "without a root": (H20, 8, 47.60, 0.0),
    "stamped": (STAMPED, 2**20, 354.9, 5.76),
    "in pieces": (PIECES, 2**20, 1626.5, 1.24),
    "with a version": (VERSIONED, 2**34, 62648, 479.90),
    "per iteration": (PER_ITERATION, 2**30, 4029.4, 466.33),
    "decimal commas": (COMMAS, 2**30, 4029.4, 466.33),
    "as Markdown": (MARKDOWN, 2**24, 413.6, 70.98),
    "grouped digits": (GROUPED, 2**34, 62648, 479.90),
}
ALL = (
    *(text for text, *_ in TABLES.values()),
    TWO_TESTS,
    INIT,
    OLD_CHOICE,
    NEW_CHOICE,
    MIDDLE_CHOICE,
    SYMMETRIC,
    INIT + VERSIONED + NEW_CHOICE,
)
# 96 H100 on 12 nodes, with SHARP (CoreWeave): the two columns differ by 2 x 95/96.
LARGE_OF_96 = (
    "  8589934592    2147483648     float     sum      -1    43981  195.31  386.56      0\n"
)
