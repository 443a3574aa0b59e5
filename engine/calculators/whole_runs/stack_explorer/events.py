"""Events of the time ruler, with their times, sources and explanations."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.whole_runs.stack_explorer.names import EVENT_NAMES
from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.text import Text, say
from engine.core.units import SECONDS, Quantity, Seconds, with_digits

Kind = tuple[str, str, str, str, Text, tuple[str, ...]]
_MODEL = "modeled"
_NCCL = ("nccl_tuning", "nccl_tests")
# Key: layer, tab, what it is, what sets it, what the number rests on, sources.
_EVENT_FACTS: Mapping[str, Kind] = {
    "memory": (
        "gpu",
        "Profiling",
        "A value is fetched from the memory of the GPU.",
        "Wires on the package; nothing that software can change, only hide.",
        "690 clock cycles measured on a GH200, at 1.98 GHz.",
        ("dewing",),
    ),
    "nvlink": (
        "link",
        "Waterfall",
        "A small message reaches another GPU of the node.",
        "NVLink, its switch, and the protocol for small messages (LL).",
        "What NCCL plans with.",
        _NCCL,
    ),
    "gap": (
        "gpu",
        "Profiling",
        "Nothing runs between the end of one small kernel and the start of the next.",
        "The GPU's front end; CUDA graphs shorten it.",
        "Assumed, as profiles of A100 and H100 show it.",
        (),
    ),
    "launch": (
        "collective",
        "Waterfall",
        "A collective's kernel starts and all its ranks have arrived.",
        "The host, the driver, and the last rank to arrive.",
        "Fitted to measured all-reduces of 8 GPUs.",
        ("nccl_tests",),
    ),
    "network": (
        "link",
        "Waterfall",
        "A message for large transfers goes from node to node once.",
        "PCIe, two network adapters, switches, cables, and a proxy on the host.",
        "Fitted to measured all-reduces over InfiniBand.",
        _NCCL,
    ),
    "gemm": (
        "gpu",
        "Profiling",
        "The largest matrix product of a layer, forward.",
        "The rate of the matrix units that such a product reaches.",
        "The cost model, fitted to published runs.",
        ("nvidia_matmul",),
    ),
    "tensor": (
        "collective",
        "Overlap",
        "The ranks of tensor parallelism gather the activations of one micro-batch.",
        "NVLink, as long as the group stays inside a node.",
        "The model of collectives, fitted to nccl-tests.",
        ("korthikanti2022", *_NCCL),
    ),
    "send": (
        "collective",
        "Topology",
        "Activations of one micro-batch go to the next stage of the pipeline.",
        "The port of one GPU.",
        "The model of collectives, fitted to nccl-tests.",
        ("narayanan2021",),
    ),
    "layer": (
        "step",
        "Profiling",
        "One layer computes forward for one micro-batch.",
        "Its products, and the attention between them.",
        "The cost model, fitted to published runs.",
        (),
    ),
    "optimizer": (
        "step",
        "Profiling",
        "Adam reads and writes its states once.",
        "The bandwidth of the memory; sharding makes the states smaller.",
        "The cost model, fitted to published runs.",
        ("rajbhandari2020",),
    ),
    "bucket": (
        "collective",
        "Overlap",
        "The gradients of one layer are reduced over the data-parallel ranks, alone.",
        "The ports of the group, or NVLink inside one node.",
        "The model of collectives, fitted to nccl-tests.",
        ("li2020", *_NCCL),
    ),
    "microbatch": (
        "step",
        "Overlap",
        "A stage computes one micro-batch forward and backward, with what it waits for inside.",
        "The layers of the stage, and the tokens of the micro-batch.",
        "The cost model, fitted to published runs.",
        ("narayanan2021",),
    ),
    "gradients": (
        "collective",
        "Overlap",
        "All gradients of a GPU are reduced over the data-parallel ranks, alone.",
        "Bytes over the bandwidth of the port. Most of it can hide behind the backward pass.",
        "The model of collectives, fitted to nccl-tests.",
        ("li2020", *_NCCL),
    ),
    "bubble": (
        "step",
        "Frontier",
        "A stage waits for the first and for the last micro-batch.",
        "Stages, pieces per stage, and micro-batches per step.",
        "The cost model, fitted to published runs.",
        ("narayanan2021",),
    ),
    "step": (
        "step",
        "Frontier",
        "Forward, backward, reduction and update: the weights have changed once.",
        "Everything above on this ruler.",
        "The cost model, fitted to published runs.",
        (),
    ),
    "checkpoint": (
        "job",
        "Frontier",
        "States are copied away while no step runs.",
        "Storage, and whether the copy goes on in the background.",
        "An input: assumed.",
        (),
    ),
    "restart": (
        "job",
        "Frontier",
        "From a failure until steps run again.",
        "Noticing it, replacing the node, loading, compiling.",
        "Assumed.",
        (),
    ),
    "interval": (
        "job",
        "Frontier",
        "The work between two checkpoints that loses least.",
        "The time of a checkpoint, and how often something fails.",
        "Daly's formula.",
        ("daly2006",),
    ),
    "mtbf": (
        "job",
        "Frontier",
        "Some GPU, cable or host of the job fails.",
        "The number of GPUs: twice as many fail twice as often.",
        "Unless you changed it: 419 unexpected interruptions in 54 days on 16,384 GPUs. Scaled to "
        "this job.",
        ("dubey2024",),
    ),
    "run": (
        "job",
        "Frontier",
        "All tokens have been seen, if nothing ever failed.",
        "Tokens over tokens per second.",
        "The cost model, fitted to published runs.",
        (),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Event on the time ruler.

    Attributes:
        key, name: of the event.
        time: how long it takes; 0 where this job has none.
        count: how often it happens in a step on one GPU; 0 where that means nothing.
        layer: of the stack.
        tab: of the explorer that goes into it.
        meaning, sets, basis: sentences.
        sources: keys of the bibliography.
    """

    key: str
    name: str
    time: Seconds
    count: float
    layer: str
    tab: str
    meaning: str
    sets: str
    basis: Text
    sources: tuple[str, ...]


def events(result: Result) -> tuple[Event, ...]:
    """Return the events of the job, shortest first, absent events last."""
    listed = [_event(key, result) for key in EVENT_NAMES]
    return tuple(sorted(listed, key=lambda event: (event.time <= 0, event.time)))


def _event(key: str, result: Result) -> Event:
    layer, tab, meaning, sets, basis, sources = _EVENT_FACTS[key]
    time = result.times[key]
    return Event(
        key=key,
        name=EVENT_NAMES[key],
        time=time,
        count=result.counts.get(key, 0.0) if time > 0 else 0.0,
        layer=layer,
        tab=tab,
        meaning=meaning,
        sets=sets,
        basis=basis,
        sources=sources,
    )


def time_text(event: Event) -> Text:
    """Return the time of an event, in words where the job has none."""
    return say("{t}", t=time_of(event)) if event.time > 0 else "not in this job"


def time_of(event: Event) -> tuple[Seconds, Quantity]:
    """Return an event's time; given or assumed times keep their few digits."""
    assumed = event.key in ("checkpoint", "restart")
    return event.time, with_digits(SECONDS) if assumed else SECONDS
