"""The largest batch: single changes of its inputs, and the memory and speed after each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.calculators.one_gpu.largest_batch.inputs import Inputs, fit
from engine.core.inputs import Number
from engine.core.units import Count, Share, TokenRate
from engine.simulate.step.largest_batch import Fit, speed

Change = Mapping[str, float | int | str | bool]
_MOST = 8
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A change.

    Attributes:
        key: of it.
        change: inputs that are others.
        found: what fits then.
        slower: for a token, over the time now; 0 where there is no speed to compare.
        ranks: of data parallelism.
    """

    key: str
    change: Change
    found: Fit
    slower: Share
    ranks: Count


def tried(inputs: Inputs, found: Fit, before: TokenRate) -> tuple[Tried, ...]:
    """Return the changes that free memory, the best first; of those, if any, that are enough."""
    every = (
        _tried(inputs, key, change, before) for key, change in _changes(inputs) if _in_range(change)
    )
    useful = [one for one in every if one.found.held.total < found.held.total * 0.9995]
    enough = [one for one in useful if one.found.held.total <= found.usable]
    return tuple(sorted(enough or useful, key=lambda one: one.found.held.total)[:_MOST])


def _tried(inputs: Inputs, key: str, change: Change, before: TokenRate) -> Tried:
    changed = replace(inputs, **change)  # type: ignore[arg-type]
    after = fit(changed)
    compared = before and after.fits
    return Tried(
        key=key,
        change=change,
        found=after,
        slower=1 - speed(after.run, changed.micro_batch_size) / before if compared else 0.0,
        ranks=after.run.plan.data_parallel,
    )


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _changes(inputs: Inputs) -> Iterator[tuple[str, Change]]:
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
