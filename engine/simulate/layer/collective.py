"""Time of a collective as NCCL would run it: of these ranks of this machine.

Every step asks here, and so does `engine.simulate.collectives.collective`, which can also be told
an algorithm. Under it stand the calibrated forms of `engine.formulas.transfer_time`, which are
compared with measured curves.
"""

from engine.core.units import Bytes, Seconds
from engine.formulas.transfer_time import Half, all_reduce_time, scatter_or_gather_time
from engine.simulate.layer.device_model import RankGroup, RankRates


def nccl_collective_time(
    rank: RankRates, group: RankGroup, size: Bytes, operation: str = "all_reduce"
) -> Seconds:
    """Return the time of an all-reduce, an all-gather or a reduce-scatter by NCCL's choice.

    Args:
        rank: rates of one rank of the machine.
        group: ranks that take part, by `rank_group`.
        size: whole buffer of a rank: before a reduce-scatter, after an all-gather.
        operation: "all_reduce", "all_gather" or "reduce_scatter".
    """
    if group.ranks <= 1 or size <= 0:
        return 0.0
    ends = (group.ranks, group.nodes, group.bandwidth)
    if operation == "all_reduce":
        return all_reduce_time(size, *ends, rank.switch, group.network, rank.scale_up)
    half: Half = "all_gather" if operation == "all_gather" else "reduce_scatter"
    return scatter_or_gather_time(size, *ends, group.network, half)
