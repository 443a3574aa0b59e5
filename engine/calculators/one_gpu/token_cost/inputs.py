"""The inputs of the token's cost, and every number of the page."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import Count, Operations, Parameters, Ratio, Share, Tokens
from engine.formulas.token_operations import (
    Counting,
    attention_width,
    break_even_length,
    counted_pairs,
    counted_parameters,
    token_operations,
)
from engine.simulate.layer.token_cost import Part, parts_of_token

LOW, USUAL, HIGH = 8, 8192, 1 << 20
COLUMN = tuple(LOW * (HIGH / LOW) ** (step / 48) for step in range(49))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    model: Annotated[
        str,
        Choice(label="Model", cites=False, options={key: one.name for key, one in MODELS.items()}),
    ] = "llama-3-8b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=LOW, high=HIGH, scale="log2", whole=True, symbol="s"),
    ] = USUAL
    counting: Annotated[
        str,
        Choice(
            label="Pairs of tokens",
            options={"matrices": "all of them", "causal": "half, as a causal mask leaves them"},
        ),
    ] = "matrices"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a token costs, and where attention overtakes the matrices."""

    parts: tuple[Part, ...]
    operations: Annotated[
        Operations,
        Told(
            "Operations per token",
            "C",
            note="forward and backward, nothing repeated",
            color="compute",
            assumes=(
                "A multiplication and an addition count as two operations.",
                "Parameters: those that multiply a token, so without the input embedding and "
                "without experts that are passed over.",
                "Norms, softmax, activation functions and the optimizer are left out.",
            ),
        ),
    ]
    six: Annotated[
        Operations,
        Told(
            "Six per parameter",
            note="without attention, with the embedding",
            color="muted",
            assumes=("Of a mixture of experts, the parameters that work on one token.",),
            sources=("kaplan2020",),
        ),
    ]
    attention: Annotated[
        Share,
        Told(
            "Attention's share",
            assumes=("Scores and weighted sums over all operations of a token.",),
        ),
    ]
    break_even: Annotated[
        Tokens,
        Told(
            "Attention equals the matrices at",
            "E",
            assumes=("Every layer attends to the whole sequence.",),
        ),
    ]
    more_than_six: Annotated[
        Ratio, Told("Over six per parameter", assumes=("The two counts above, divided.",))
    ]
    longer: Annotated[
        Ratio,
        Told(
            "Over a length of 8,192",
            note="the same model and pairs",
            assumes=("At the same MFU, time grows in the same ratio.",),
        ),
    ]
    summed: Annotated[
        Operations,
        Told(
            "Sum over the matrices",
            note="what a counter of products finds",
            assumes=("The sum of the rows. Norms have none; the formula counts their parameters.",),
        ),
    ]
    counted: Annotated[Parameters, Told(symbol="N", of="model")]
    width: Annotated[Count, Told(symbol="W", of="model")]
    pairs: Annotated[Share, Told(symbol="v", of="counting")]
    column: tuple[Operations, ...]
    matrices: Operations


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, counting = MODELS[inputs.model], _counting(inputs)
    pairs = counted_pairs(counting)
    counted, width = counted_parameters(model, counting), attention_width(model)
    operations = token_operations(model, inputs.sequence_length, counting)
    matrices = token_operations(model, 0.0, counting)
    six = token_operations(model, inputs.sequence_length, "six")
    parts = parts_of_token(model, inputs.sequence_length, pairs)
    return Result(
        parts=parts,
        summed=sum(part.all for part in parts),
        operations=operations,
        six=six,
        attention=1 - matrices / operations,
        break_even=break_even_length(counted, width, pairs),
        more_than_six=operations / six,
        longer=operations / token_operations(model, USUAL, counting),
        counted=counted,
        width=width,
        pairs=pairs,
        column=tuple(token_operations(model, length, counting) for length in COLUMN),
        matrices=matrices,
    )


def _counting(inputs: Inputs) -> Counting:
    return "causal" if inputs.counting == "causal" else "matrices"
