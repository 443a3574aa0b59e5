"""Activation ledger: every tensor that a GPT layer keeps for its backward pass."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count
from engine.formulas.activations import HALF, MASK


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A tensor of the ledger.

    Attributes:
        name: description of the tensor.
        elements: number of elements.
        each: bytes of one element.
    """

    name: str
    elements: Count
    each: Bytes

    @property
    def size(self) -> Bytes:
        """Bytes of all elements."""
        return self.elements * self.each


def layer_ledger(
    sequence_length: Count, micro_batch_size: Count, hidden_size: Count, num_attention_heads: Count
) -> tuple[LedgerEntry, ...]:
    """Return every tensor that a GPT layer keeps, in 16 bits, with dropout, on one GPU.

    Source: Korthikanti et al. 2022, section 4.1, whose sum is sbh(34 + 5as/h) bytes.
    """
    tokens = sequence_length * micro_batch_size
    hidden = tokens * hidden_size
    scores = num_attention_heads * sequence_length * tokens
    rows = (
        ("input of the first norm", hidden, HALF),
        ("input of queries, keys, values", hidden, HALF),
        ("queries", hidden, HALF),
        ("keys", hidden, HALF),
        ("softmax of the scores", scores, HALF),
        ("mask of their dropout", scores, MASK),
        ("scores after dropout", scores, HALF),
        ("values", hidden, HALF),
        ("input of the output projection", hidden, HALF),
        ("mask of its dropout", hidden, MASK),
        ("input of the second norm", hidden, HALF),
        ("input of the first matrix", hidden, HALF),
        ("input of GELU, four times as wide", 4 * hidden, HALF),
        ("input of the second matrix, as wide", 4 * hidden, HALF),
        ("mask of its dropout", hidden, MASK),
    )
    return tuple(
        LedgerEntry(name=name, elements=count, each=element_size)
        for name, count, element_size in rows
    )
