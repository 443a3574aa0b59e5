"""The numbers of an imported job, as they are told; of a text that gives none, that there are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.core.outputs import Teller, Told
from engine.core.units import BYTES, SECONDS, SHARE, TOKEN_RATE, Bytes, Quantity
from engine.core.views import Receipt, Value
from engine.form.run.result import Estimated
from engine.form.run.views import values

_NOTHING = Receipt(
    basis="definition", assumptions=("No job could be put together from the text above.",)
)
_SPEEDS: Mapping[str, tuple[str, Quantity]] = {
    "step_time": ("Step", SECONDS),
    "mfu": ("MFU", SHARE),
    "token_rate": ("Per GPU", TOKEN_RATE),
}
_LINES: Mapping[str, tuple[str, Quantity]] = {
    "allocated": ("Allocated", BYTES),
    "reserved": ("Reserved", BYTES),
    "process": ("nvidia-smi", BYTES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The memory of the fullest GPU as three tools show it."""

    allocated: Annotated[
        Bytes,
        Told(
            "Allocated",
            note="torch.cuda.max_memory_allocated",
            color="memory",
            assumes=("Tensors and workspaces of the fullest rank at its peak.",),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Told(
            "Reserved",
            note="torch.cuda.max_memory_reserved",
            color="memory",
            assumes=(
                "Beyond what is allocated: blocks of the caching allocator that fit nothing. "
                "Their share is fitted to torchtitan's published peaks.",
            ),
        ),
    ]
    process: Annotated[
        Bytes,
        Told(
            "nvidia-smi",
            note="reserved, the CUDA context, NCCL's buffers",
            color="memory",
            assumes=(
                "The context is measured, NCCL's buffers are fitted (BigScience 2022). Other "
                "software that uses the GPU comes on top.",
            ),
        ),
    ]


def speeds(found: Estimated | None) -> dict[str, Value]:
    """Return step, MFU and tokens per second."""
    if found is None:
        return _missing(_SPEEDS)
    numbers = values(found)
    return {name: _unlinked(numbers[name]) for name in _SPEEDS}


def _unlinked(value: Value) -> Value:
    """Return a value whose receipt lights up no input: here they all come from one text."""
    return replace(value, receipt=replace(value.receipt, inputs={}))


def memory_lines(found: Estimated | None) -> dict[str, Value]:
    """Return what the three tools show."""
    if found is None:
        return _missing(_LINES)
    lines = Lines(**{name: found.estimate[f"memory_{name}"] for name in _LINES})
    return Teller(lines).values(*_LINES)


def _missing(kinds: Mapping[str, tuple[str, Quantity]]) -> dict[str, Value]:
    return {
        name: Value(label=label, value=float("inf"), quantity=quantity, receipt=_NOTHING)
        for name, (label, quantity) in kinds.items()
    }
