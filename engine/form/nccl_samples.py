"""Sample NCCL outputs: published measurements in the format of nccl-tests.

Times are those of NVIDIA's DGX Cloud benchmarking (8 H100), of Bekman (8 A100), of Amazon's
samples (two p4de) and of NCCL's issue 1453 (24 H100); hosts are made up. The log of two nodes is
made up in the form of NCCL's own lines, around one wrong variable.
"""

from collections.abc import Mapping, Sequence

from engine.core.inputs import Sample

_HEAD = (
    "#                                                              out-of-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n"
)
_H100 = (
    *("13.67", "13.00", "68.14", "14.92", "15.87", "16.10", "16.70", "16.94", "17.14", "23.59"),
    *("17.40", "17.93", "19.33", "19.54", "19.89", "20.43", "20.66", "27.37", "42.21", "54.19"),
    *("83.04", "123.8", "199.3", "324.7", "586.4", "1112.5", "2151.0", "4029.4", "7939.1"),
    *("15749", "31307", "62648"),
)
_A100 = (
    *("43.83", "46.80", "51.76", "61.38", "80.40", "101.9", "101.4", "101.5", "133.5", "276.6"),
    *("424.0", "684.6", "1327.6", "2420.6", "4218.4", "8203.9", "16240", "32136", "64074"),
    "127997",
)
_P4DE = (
    *("164.3", "161.4", "161.5", "161.0", "161.2", "161.8", "162.3", "165.0", "177.6", "169.4"),
    *("175.9", "193.4", "224.6", "227.4", "229.7", "238.2", "260.3", "309.4", "432.6", "533.9"),
    *("762.8", "1191.8", "1540.2", "2644.6", "3912.9", "7201.7", "13552", "26217", "51406"),
)
_BROKEN = (
    *("1626.5", "2325.3", "622.6", "992.6", "1334.9", "2180.1", "24410", "49264", "125807"),
    "193909",
)


def _devices(device: str, ranks: int, per_node: int) -> str:
    lines = []
    for rank in range(ranks):
        host, device_id = f"node-{1 + rank // per_node}", rank % per_node
        lines.append(
            f"#  Rank {rank:2d} Group  0 Pid {4200 + rank:6d} on {host:>10s} "
            f"device {device_id:2d} "
            f"[0000:{16 + device_id:02x}:00] {device}\n"
        )
    return "".join(lines)


def _rows(first: int, times: Sequence[str], ranks: int) -> str:
    lines = []
    for step, printed in enumerate(times):
        size = first << step
        algorithm = size / float(printed) / 1e3
        bus = 2 * (ranks - 1) / ranks * algorithm
        lines.append(
            f"{size:12d}  {size // 4:12d}     float     sum      -1  {printed:>7s}"
            f"  {algorithm:6.2f}  {bus:6.2f}       0\n"
        )
    return "".join(lines)


def _table(device: str, ranks: int, per_node: int, first: int, times: Sequence[str]) -> str:
    return (
        "# Collective test starting: all_reduce_perf\n# Using devices\n"
        + _devices(device, ranks, per_node)
        + _HEAD
        + _rows(first, times, ranks)
    )


def _log() -> str:
    lines = ["NCCL version 2.27.7+cuda12.8"]
    for node in (1, 2):
        who = f"node-{node}:4200:4311 [0] NCCL INFO "
        lines += [
            who + "NCCL_SOCKET_IFNAME set by environment to eth0",
            who + "NCCL_IB_HCA set by environment to mlx5_0",
            who + "NCCL_ALGO set by environment to Ring",
            who + "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.7<0>",
            who + "Using network IB",
            who + "NVLS multicast support is available on dev 0",
            who + f"ncclCommInitRankConfig comm 0x5581 rank {8 * node - 8} nranks 16 cudaDev 0 "
            "nvmlDev 0 busId 18000 commId 0x77 - Init COMPLETE",
            who + f"Channel 00/0 : {8 * node - 8}[0] -> {8 * node - 7}[1] via P2P/CUMEM",
            who + "Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0/GDRDMA",
        ]
    who = "node-1:4200:4200 [0] NCCL INFO "
    for size, protocol, channels in (
        (65536, "LL", 1),
        (2**25, "SIMPLE", 15),
        (2**30, "SIMPLE", 15),
    ):
        lines.append(
            who + f"AllReduce: {size} Bytes -> Algo RING proto {protocol} "
            f"channel{{Lo..Hi}}={{0..{channels}}}"
        )
    return "\n".join(lines) + "\n"


SAMPLES: Mapping[str, Sample] = {
    "h100": Sample(title="8 H100", text=_table("NVIDIA H100 80GB HBM3", 8, 8, 8, _H100)),
    "a100": Sample(title="8 A100", text=_table("NVIDIA A100-SXM4-80GB", 8, 8, 32_768, _A100)),
    "p4de": Sample(title="2 nodes, EFA", text=_table("NVIDIA A100-SXM4-80GB", 16, 8, 8, _P4DE)),
    "broken": Sample(
        title="3 nodes, slow", text=_table("NVIDIA H100 80GB HBM3", 24, 8, 2**20, _BROKEN)
    ),
    "log": Sample(title="NCCL_DEBUG, 2 nodes", text=_log()),
}
