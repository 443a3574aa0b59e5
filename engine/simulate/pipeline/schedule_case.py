"""Input of a schedule simulation: stages, micro-batches, times and sizes."""

from dataclasses import dataclass

from engine.core import registry
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.run.stage_cut import moved_layers
from engine.simulate.pipeline.pipeline import PACKAGE, PipelineTimes

_ORDER = (
    "naive",
    "gpipe",
    "one_f_one_b",
    "interleaved",
    "breadth_first",
    "zb_h1",
    "zb_h2",
    "zb_v",
    "v_half",
    "v_min",
    "dualpipe",
    "dualpipe_v",
)


def schedule_titles() -> dict[str, str]:
    """Return the title of every schedule by module name, in reading order."""
    names = registry.module_names(PACKAGE)
    ordered = [name for name in _ORDER if name in names]
    ordered += [name for name in names if name not in ordered]
    return {name: registry.module(PACKAGE, name).TITLE for name in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleCase:
    """A schedule simulation to run.

    Attributes:
        schedule: its name.
        pipeline_parallel, num_microbatches: as wanted.
        num_chunks: of a rank, as wanted; most schedules fix it.
        forward, backward_input, backward_weight: of a rank's layers on one micro-batch.
        message: time of one between neighbors.
        overlapped: how long F&B takes, over F + B + W.
        slow_stage: a stage that takes longer by the ratio `slowness`.
        num_layers: of the model, cut into whole ones; 0 if all parts are alike.
        embedding, output: what the ends take besides their layers, in the time of layers.
        off_first, off_last: layers that are moved from the ends to the parts between.
        recompute: the backward pass repeats the forward pass first.
        synchronized: ranks wait for one another between steps.
        activation_size: of one micro-batch, over all stages.
        weight_size: of one copy of the model.
        message_size: bytes of a message.
    """

    schedule: str
    pipeline_parallel: Count
    num_microbatches: Count
    num_chunks: Count
    forward: Seconds
    backward_input: Seconds
    backward_weight: Seconds
    message: Seconds
    overlapped: Ratio
    slow_stage: Count
    slowness: Ratio
    num_layers: Count
    embedding: Ratio
    output: Ratio
    off_first: Count
    off_last: Count
    recompute: bool
    synchronized: bool
    activation_size: Bytes
    weight_size: Bytes
    message_size: Bytes

    @property
    def backward(self) -> Seconds:
        """Time of the backward pass for the inputs, with recomputation."""
        return self.backward_input + (self.forward if self.recompute else 0.0)

    @property
    def pair(self) -> Seconds:
        """Time of an overlapped forward and backward pass, with recomputation."""
        whole = self.forward + self.backward_input + self.backward_weight
        return self.overlapped * whole + (self.forward if self.recompute else 0.0)


def part_layers(case: ScheduleCase, num_parts: Count) -> tuple[Count, ...]:
    """Return the number of layers of each model part; empty if all parts are equal."""
    if not case.num_layers:
        return ()
    return moved_layers(case.num_layers, num_parts, case.off_first, case.off_last)


def part_times(case: ScheduleCase, num_parts: Count) -> tuple[Ratio, ...]:
    """Return the relative time of each model part; empty if all parts are equal.

    An even part has its share of the layers and nothing else. The embedding and the output layer
    come on top.
    """
    layers: list[float] = list(part_layers(case, num_parts))
    if not layers:
        return ()
    layers[0] += case.embedding
    layers[-1] += case.output
    return tuple(size * num_parts / case.num_layers for size in layers)


def case_times(case: ScheduleCase, stages: Count, num_parts: Count) -> PipelineTimes:
    """Return the operation times of the case for a number of stages and model parts."""
    whole = case.forward + case.backward_input + case.backward_weight
    slow = min(case.slow_stage, stages - 1)
    return PipelineTimes(
        forward=case.forward,
        backward_input=case.backward_input,
        backward_weight=case.backward_weight,
        pair=whole * case.overlapped,
        recompute=case.recompute,
        message=case.message_size,
        bandwidth=case.message_size / case.message if case.message else 0.0,
        slowness=tuple(1 + case.slowness * (rank == slow) for rank in range(stages))
        if case.slowness
        else (),
        pieces=part_times(case, num_parts),
    )
