"""One message of a collective: which rank sends which chunk to which rank."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A chunk on its way in one round; every transfer of a round reads the state before it.

    Attributes:
        source: rank that sends.
        target: rank that receives.
        chunk: index of the chunk, the same on both sides.
        reduce: True adds the chunk to the target's own, False replaces it.
    """

    source: int
    target: int
    chunk: int
    reduce: bool
