"""The gradient sync lab: single changes of its inputs, and the step after each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs, job_of, missing_of
from engine.catalog.hardware import GPUS
from engine.core.inputs import Number
from engine.core.units import Seconds
from engine.simulate.data_parallel.sync_step import GradientAllReduce, sync_step

Change = Mapping[str, float | int | str | bool]
LOWER = {"fp32": "bf16", "bf16": "fp8"}
_MAX_CHANGES = 7
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedChange:
    """A change, and the time per step after it, scaled to the tokens of the step as it is now."""

    key: str
    change: Change
    after: Seconds


def try_changes(inputs: Inputs, sync: GradientAllReduce, now: Seconds) -> tuple[TriedChange, ...]:
    """Return the changes within range that fit and make the step of `now` shorter, best first.

    A job whose states do not fit needs what makes them fit, whatever it does to the step.
    """
    missing = bool(missing_of(inputs))
    changes = (
        TriedChange(key=key, change=change, after=_step_time_after(inputs, change))
        for key, change in _possible_changes(inputs, sync, missing=missing)
        if _in_range(change) and not missing_of(_changed_inputs(inputs, change))
    )
    useful = [change for change in changes if missing or change.after < now * 0.9995]
    return tuple(sorted(useful, key=lambda change: change.after)[:_MAX_CHANGES])


def _changed_inputs(inputs: Inputs, change: Change) -> Inputs:
    return replace(inputs, **change)  # type: ignore[arg-type]


def _step_time_after(inputs: Inputs, change: Change) -> Seconds:
    step = sync_step(job_of(_changed_inputs(inputs, change))).parts.total
    tokens = float(change.get("tokens_per_gpu", inputs.tokens_per_gpu))
    accumulation = float(change.get("accumulation", inputs.accumulation))
    return step * inputs.tokens_per_gpu * inputs.accumulation / (tokens * accumulation)


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _possible_changes(
    inputs: Inputs, sync: GradientAllReduce, *, missing: bool
) -> Iterator[tuple[str, Change]]:
    yield "accumulate", {"accumulation": 2 * inputs.accumulation}
    yield "tokens", {"tokens_per_gpu": 2 * inputs.tokens_per_gpu}
    yield "zero1", {"sharding": "zero1"}
    yield "port", {"port": 2 * inputs.port}
    yield "ports", {"ports_per_node": 2 * inputs.ports_per_node}
    yield "bucket", {"bucket": 4 * inputs.bucket}
    yield "smaller_bucket", {"bucket": inputs.bucket / 4}
    if inputs.dtype in LOWER:
        yield "dtype", {"dtype": LOWER[inputs.dtype]}
    if not inputs.overlap:
        yield "overlap", {"overlap": True}
    if missing:
        yield from ((gpu, {"gpu": gpu}) for gpu in GPUS)
    yield from _wire_changes(inputs, sync)


def _wire_changes(inputs: Inputs, sync: GradientAllReduce) -> Iterator[tuple[str, Change]]:
    if job_of(inputs).wires.num_nodes > 1:
        if inputs.world_size <= 8:
            yield "node", {"gpus_per_node": inputs.world_size}
        if inputs.gpus_per_node > 1 and sync.algorithm != "hierarchical":
            yield "hierarchical", {"algorithm": "hierarchical"}
    if inputs.algorithm in ("ring", "hierarchical"):
        yield "auto", {"algorithm": "auto"}
    if sync.algorithm != "in_network":
        yield "in_network", {"algorithm": "in_network"}
    if sync.algorithm == "tree":
        yield "ring", {"algorithm": "ring"}
