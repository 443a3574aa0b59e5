"""Layer ledger: bytes of every tensor that a GPT layer saves for its backward pass."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, Bytes, Parameters
from engine.core.views import Published, Table
from engine.formulas.gpt import KORTHIKANTI, gpt_parameters
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.simulate.memory.activation_ledger import LedgerEntry, layer_ledger

TITLE = "The bytes of one layer"
QUESTION = "What does one layer keep from the forward pass until the backward pass needs it?"
HEADLINE = "total"
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
    """The calculator's inputs."""

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
class Result:
    """The saved tensors, their sum, and the bytes of the layer's weights."""

    entries: tuple[LedgerEntry, ...]
    total: Annotated[
        Bytes,
        Output(
            "Kept by the layer",
            "A",
            color="activations",
            assumes=(
                "The sum of the rows of the ledger; the formula gives the same.",
                "A GPT layer with dropout, in 16 bits, on one GPU, without FlashAttention.",
            ),
        ),
    ]
    doubled: Annotated[
        Bytes,
        Output(
            "The formula, doubled",
            note="as a published guide prints it",
            color="muted",
            assumes=("What comes out if the formula is taken for a count of elements.",),
            sources=("vizuara_guides",),
        ),
    ]
    states: Annotated[
        Bytes,
        Output(
            "States of its weights",
            note="however long the sequence, however large the batch",
            color="optimizer",
            assumes=(
                "The layer has {parameters} parameters: 12h² + 13h.",
                "Mixed precision with Adam: 2 bytes for a parameter, 2 for its gradient, 12 for a "
                "full copy and two moments.",
            ),
            sources=("narayanan2021", "rajbhandari2020"),
        ),
    ]
    parameters: Parameters


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    entries = layer_ledger(
        inputs.sequence_length,
        inputs.micro_batch_size,
        inputs.hidden_size,
        inputs.num_attention_heads,
    )
    total = sum(entry.size for entry in entries)
    parameters = gpt_parameters(1, inputs.hidden_size, 0, 0)
    return Result(
        entries=entries,
        total=total,
        doubled=2 * total,
        states=sharded_states(parameters, MIXED_PRECISION, 0, 1).total,
        parameters=parameters,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    published = Published(
        text=present.say("a published guide prints {doubled}"),
        reason="It takes the formula for a count of elements and doubles it; it is bytes already.",
        source="vizuara_guides",
    )
    return {
        "total": present.value("total", symbols={"t": (1.0, COUNT)}, published=published),
        **present.values("doubled", "states"),
        "ledger": Table(
            title="What a layer keeps",
            columns=("Tensor", "Elements and bytes of each", "Together"),
            rows=tuple(
                (
                    entry.name,
                    say("{n} × {e}", n=(entry.elements, COUNT), e=(entry.each, COUNT)),
                    say("{m}", m=(entry.size, BYTES)),
                )
                for entry in result.entries
            ),
        ),
    }
