"""How each fault looks in a trace, what confirms it, and what repairs it."""

from dataclasses import dataclass

from engine.core.views import Cell, Cite, Table
from engine.simulate.data_parallel.trace_hunt import FAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One fault.

    Attributes:
        looks: in the trace.
        confirms: the measurement that would settle it.
        repairs: what to change, with the real names of settings.
        sources: keys of the bibliography.
    """

    looks: str
    confirms: str
    repairs: str
    sources: tuple[str, ...]


SIGNS = {
    "straggler": Sign(
        looks="One rank computes longer and waits least; the others' collectives are long.",
        confirms="The clocks and temperature of that GPU; the same kernels on two ranks.",
        repairs="Take the node out; check cooling and power limits.",
        sources=("hta", "nvidia_smi"),
    ),
    "blocking": Sign(
        looks="One long collective after the last backward kernel; none beside computation.",
        confirms="Overlap percentage near zero.",
        repairs="DDP instead of a loop of all_reduce; Megatron-LM: --overlap-grad-reduce.",
        sources=("li2020", "hta"),
    ),
    "tiny": Sign(
        looks="Very many collectives of the same, short length, back to back.",
        confirms="all_reduce_perf at that message size: far below the bandwidth of large ones.",
        repairs="DDP: bucket_cap_mb; DeepSpeed: reduce_bucket_size.",
        sources=("pytorch_ddp", "nccl_tests"),
    ),
    "loader": Sign(
        looks="All ranks are idle at the start of the step, with no kernel and no collective.",
        confirms="The time in next(loader); it vanishes with a synthetic batch.",
        repairs="DataLoader(num_workers=..., pin_memory=True, prefetch_factor=...).",
        sources=("pytorch_data",),
    ),
    "launches": Sign(
        looks="Gaps between kernels on all ranks, and a CPU lane without a gap.",
        confirms="HTA: idle time attributed to the host; queue length near zero.",
        repairs="CUDA graphs, torch.compile, larger micro-batches, no .item() in the loop.",
        sources=("hta",),
    ),
    "link": Sign(
        looks="All ranks' collectives are equally long, and longer than their size explains.",
        confirms="all_reduce_perf between halves of the nodes; then port counters.",
        repairs="Change the cable or take the node out.",
        sources=("nccl_tests", "perfquery"),
    ),
    "prefetch": Sign(
        looks="A gather before every layer, never beside one: computing and gathering take turns.",
        confirms="Each gather starts when the layer before it ends.",
        repairs="FSDP2: set_modules_to_forward_prefetch, set_modules_to_backward_prefetch.",
        sources=("pytorch_fsdp2",),
    ),
}


def signs() -> Table:
    """Return the table of all faults."""
    rows: list[tuple[Cell, ...]] = [
        (FAULTS[key], sign.looks, sign.confirms, sign.repairs, Cite(sign.sources))
        for key, sign in SIGNS.items()
    ]
    return Table(
        title="Seven faults and their traces",
        columns=("Fault", "In the trace", "What confirms it", "What repairs it", "Source"),
        rows=tuple(rows),
    )
