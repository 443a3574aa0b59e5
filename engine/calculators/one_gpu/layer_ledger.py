"""Layer ledger: every tensor that one GPT layer keeps for its backward pass, byte by byte."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Number
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, PARAMETERS, Bytes, Count
from engine.basis.views import Published, Receipt, Table, Value, View
from engine.formulas.activations import HALF, KORTHIKANTI, MASK
from engine.formulas.parameters import gpt_parameters
from engine.formulas.states import MIXED_PRECISION

TITLE = "The bytes of one layer"
QUESTION = "What does one layer keep from the forward pass until the backward pass needs it?"
EQUATIONS = (KORTHIKANTI,)
PRESETS = {
    "A layer of GPT-3 175B": {
        "sequence_length": 2048,
        "hidden_size": 12_288,
        "num_attention_heads": 96,
    }
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=1, high=8192, scale="log2", whole=True, symbol="s"),
    ] = 4
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b")
    ] = 1
    hidden_size: Annotated[
        int, Number(label="Hidden size", low=1, high=32_768, scale="log2", whole=True, symbol="h")
    ] = 8
    num_attention_heads: Annotated[
        int, Number(label="Heads", low=1, high=128, scale="log2", whole=True, symbol="a")
    ] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A tensor of the ledger.

    Attributes:
        name: what it is.
        elements: how many.
        each: bytes of one.
    """

    name: str
    elements: Count
    each: Bytes

    @property
    def size(self) -> Bytes:
        """All elements together."""
        return self.elements * self.each


def entries(inputs: Inputs) -> tuple[Entry, ...]:
    """Return every tensor that a layer keeps: Korthikanti et al. 2022, section 4.1."""
    tokens = inputs.sequence_length * inputs.micro_batch_size
    hidden = tokens * inputs.hidden_size
    scores = inputs.num_attention_heads * inputs.sequence_length * tokens
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
    return tuple(Entry(name=name, elements=count, each=each) for name, count, each in rows)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = entries(inputs)
    total = sum(entry.size for entry in found)
    weights = gpt_parameters(1, inputs.hidden_size, 0, 0)
    return {
        "total": Value(
            label="Kept by the layer",
            value=total,
            quantity=BYTES,
            receipt=Receipt(
                equation=KORTHIKANTI,
                symbols={
                    "A": (total, BYTES),
                    "s": (float(inputs.sequence_length), COUNT),
                    "b": (float(inputs.micro_batch_size), COUNT),
                    "h": (float(inputs.hidden_size), COUNT),
                    "a": (float(inputs.num_attention_heads), COUNT),
                    "t": (1.0, COUNT),
                },
                inputs={
                    "s": "sequence_length",
                    "b": "micro_batch_size",
                    "h": "hidden_size",
                    "a": "num_attention_heads",
                },
                assumptions=(
                    "The sum of the rows of the ledger; the formula gives the same.",
                    "A GPT layer with dropout, in 16 bits, on one GPU, without FlashAttention.",
                ),
                published=Published(
                    text=say("a published guide prints {m}", m=(2 * total, BYTES)),
                    reason="It takes the formula for a count of elements and doubles it; it is "
                    "bytes already.",
                    source="vizuara_guides",
                ),
            ),
            color="activations",
        ),
        "doubled": Value(
            label="The formula, doubled",
            value=2 * total,
            quantity=BYTES,
            receipt=Receipt(
                assumptions=("What comes out if the formula is taken for a count of elements.",),
                sources=("vizuara_guides",),
            ),
            note="as a published guide prints it",
            color="muted",
        ),
        "states": Value(
            label="States of its weights",
            value=weights * (MIXED_PRECISION.parameter + MIXED_PRECISION.gradient)
            + weights * MIXED_PRECISION.optimizer,
            quantity=BYTES,
            receipt=Receipt(
                assumptions=(
                    say("The layer has {p} parameters: 12h² + 13h.", p=(weights, PARAMETERS)),
                    "Mixed precision with Adam: 2 bytes for a parameter, 2 for its gradient, 12 "
                    "for a full copy and two moments.",
                ),
                sources=("narayanan2021", "rajbhandari2020"),
            ),
            note="however long the sequence, however large the batch",
            color="optimizer",
        ),
        "ledger": Table(
            title="What a layer keeps",
            columns=("Tensor", "Elements and bytes of each", "Together"),
            rows=tuple(
                (
                    entry.name,
                    say("{n} × {e}", n=(entry.elements, COUNT), e=(entry.each, COUNT)),
                    say("{m}", m=(entry.size, BYTES)),
                )
                for entry in found
            ),
        ),
    }
