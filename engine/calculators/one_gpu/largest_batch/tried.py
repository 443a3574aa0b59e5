"""The largest batch: single changes of its inputs, and the memory and speed after each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.calculators.one_gpu.largest_batch.inputs import Inputs, fit
from engine.core.inputs import Number
from engine.core.units import Count, Share, TokenRate
from engine.simulate.step.largest_batch import BatchFit, batch_token_rate

Change = Mapping[str, float | int | str | bool]
_MAX_CHANGES = 8
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedChange:
    """A change of inputs and its effect.

    Attributes:
        key: of the change.
        change: the changed inputs.
        fit: batch fit with the changed inputs.
        slower: lost share of the token rate; 0 where there is no speed to compare.
        ranks: data-parallel ranks.
    """

    key: str
    change: Change
    fit: BatchFit
    slower: Share
    ranks: Count


def try_changes(inputs: Inputs, fit: BatchFit, before: TokenRate) -> tuple[TriedChange, ...]:
    """Return the changes that free memory, the best first; of those, if any, that are enough."""
    changes = (
        _try_change(inputs, key, change, before)
        for key, change in _possible_changes(inputs)
        if _in_range(change)
    )
    useful = [change for change in changes if change.fit.memory.total < fit.memory.total * 0.9995]
    enough = [change for change in useful if change.fit.fit.verdict == "fits"]
    return tuple(
        sorted(enough or useful, key=lambda change: change.fit.memory.total)[:_MAX_CHANGES]
    )


def _try_change(inputs: Inputs, key: str, change: Change, before: TokenRate) -> TriedChange:
    changed = replace(inputs, **change)  # type: ignore[arg-type]
    after = fit(changed)
    compared = before and after.fit.runs
    return TriedChange(
        key=key,
        change=change,
        fit=after,
        slower=1 - batch_token_rate(after.run, changed.micro_batch_size) / before
        if compared
        else 0.0,
        ranks=after.run.plan.data_parallel,
    )


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _possible_changes(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    for kind in ("selective", "full"):
        if kind != inputs.recompute:
            yield kind, {"recompute": kind}
    for stage in "123":
        if stage > inputs.zero_stage:
            yield f"zero{stage}", {"zero_stage": stage}
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel", "world_size"):
        yield name, {name: 2 * getattr(inputs, name)}
    if not inputs.flash_attention:
        yield "flash", {"flash_attention": True}
    yield "batch", {"micro_batch_size": inputs.micro_batch_size // 2}
    yield "length", {"sequence_length": inputs.sequence_length // 2}
