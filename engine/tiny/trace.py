"""The record of a step of sharded training: every number on every rank, after every phase."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.tiny.adam import Moments
from engine.tiny.exchange import Exchange
from engine.tiny.result import sent_numbers

# A number for every place of the flat vector; None where the rank holds none.
Places = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNumbers:
    """Numbers held by one rank, by place in the flat parameter vector."""

    parameters: Places
    gradients: Places
    copy: Places
    first: Places
    second: Places


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSnapshot:
    """State of all ranks after one phase of a step.

    Attributes:
        step: 1 for the first.
        phase: "start", "backward", "all_reduce", "reduce_scatter", "adam", "all_gather"; and
            "gather", "forward" where parameters come only for a while, "node_gather" where they
            come from a second copy in the node.
        part: of the model, where the phase is about one; else empty.
        micro: of which micro-batch, from 1; 0 where the phase is about none.
        ranks: what each holds.
        sent: kind -> numbers that each rank has sent since the start.
        crossed: numbers that the first node has sent to other nodes since the start.
    """

    step: int
    phase: str
    ranks: tuple[RankNumbers, ...]
    sent: Mapping[str, tuple[int, ...]]
    part: str = ""
    micro: int = 0
    crossed: int = 0


Recorder = Callable[[StepSnapshot], None]


def discard_snapshot(snapshot: StepSnapshot) -> None:
    """Discard the snapshot."""


@dataclass(slots=True, kw_only=True)
class RankState:
    """A rank of data parallelism at work; `owned` are its places of the flat vector.

    Vectors hold all places or, where they are as long as `owned`, just those. A place beyond the
    vector is padding. Gradients that were reduced are complete on the places in `owned` only.
    """

    owned: Sequence[int]
    parameters: list[float]
    gradients: list[float]
    moments: Moments


def take_snapshot(
    step: int, phase: str, states: Sequence[RankState], exchange: Exchange, size: int
) -> StepSnapshot:
    """Return a snapshot of all ranks; `size` is the length of the flat vector."""
    return StepSnapshot(
        step=step,
        phase=phase,
        ranks=tuple(_numbers(state, size) for state in states),
        sent=sent_numbers(exchange),
    )


def _numbers(state: RankState, size: int) -> RankNumbers:
    def placed(vector: Sequence[float]) -> Places:
        if len(vector) == size:
            return tuple(vector)
        numbers: list[float | None] = [None] * size
        for place, number in zip(state.owned, vector, strict=False):
            if place < size:
                numbers[place] = number
        return tuple(numbers)

    moments = state.moments
    return RankNumbers(
        parameters=placed(state.parameters),
        gradients=placed(state.gradients),
        copy=placed(moments.copy),
        first=placed(moments.first),
        second=placed(moments.second),
    )


def with_gathered_part(
    base: StepSnapshot,
    phase: str,
    part: str,
    indices: range,
    *,
    micro: int = 1,
    parameters: Sequence[Sequence[float]] = (),
    gradients: Sequence[Sequence[float]] = (),
) -> StepSnapshot:
    """Return the snapshot with a temporarily gathered part on every rank.

    Args:
        base: the world without it.
        phase: as in `StepSnapshot`.
        part: likewise.
        indices: of the part.
        micro: as in `StepSnapshot`.
        parameters: of the part, by rank; empty if none came.
        gradients: likewise.
    """
    ranks = [
        replace(
            state,
            parameters=_overlay(state.parameters, indices, parameters[rank])
            if parameters
            else state.parameters,
            gradients=_overlay(state.gradients, indices, gradients[rank])
            if gradients
            else state.gradients,
        )
        for rank, state in enumerate(base.ranks)
    ]
    return replace(base, phase=phase, part=part, micro=micro, ranks=tuple(ranks))


def with_parameters(
    base: StepSnapshot, rank: int, indices: range, numbers: Sequence[float]
) -> StepSnapshot:
    """Return the snapshot with parameters at some places of one rank replaced."""
    state = base.ranks[rank]
    state = replace(state, parameters=_overlay(state.parameters, indices, numbers))
    return replace(base, ranks=(*base.ranks[:rank], state, *base.ranks[rank + 1 :]))


def _overlay(whole: Places, indices: range, numbers: Sequence[float]) -> Places:
    """Return the places with a part's numbers replaced."""
    return (*whole[: indices.start], *numbers[: len(indices)], *whole[indices.stop :])
