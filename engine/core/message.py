"""Point-to-point transfers of a collective: source rank, target rank, chunk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One chunk sent in one round; all transfers of a round read the state before the round.

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
