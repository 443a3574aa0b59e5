"""Records of which an estimate makes many: keyword-only, with slots, unchanged once they are made.

A frozen dataclass writes each field by a call that checks; for the hundreds of fields of an
estimate those calls were a third of its time. Here the type checker alone forbids an assignment.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class such a record; its hash is of all fields, where it has none of its own."""
    hashed = "__hash__" not in vars(cls)
    return dataclass(slots=True, kw_only=True, unsafe_hash=hashed)(cls)
