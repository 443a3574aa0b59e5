"""Token cost: training operations per token, matrix by matrix."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.flop_conventions import Counting
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count, Operations, Parameters, Ratio, Share, Tokens
from engine.core.views import Bar, Bars, Line, Lines, Rule, Scale, Segment
from engine.form.token_parts import MATRIX_NAMES, matrix_table
from engine.formulas.token_operations import (
    BREAK_EVEN_LENGTH,
    TOKEN_OPERATIONS,
    attention_width,
    break_even_length,
    counted_pairs,
    counted_parameters,
    token_operations,
)
from engine.simulate.layer.token_cost import TokenCostPart, token_cost_parts

LOW, USUAL, HIGH = 8, 8192, 1 << 20
COLUMN = tuple(LOW * (HIGH / LOW) ** (step / 48) for step in range(49))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in MODELS.items()}
        ),
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
    """Operations per token, and the sequence length where attention equals the matrices."""

    parts: tuple[TokenCostPart, ...]
    operations: Annotated[
        Operations,
        Output(
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
        Output(
            "Six per parameter",
            note="without attention, with the embedding",
            color="muted",
            assumes=("Of a mixture of experts, the parameters that work on one token.",),
            sources=("kaplan2020",),
        ),
    ]
    attention: Annotated[
        Share,
        Output(
            "Attention's share",
            assumes=("Scores and weighted sums over all operations of a token.",),
        ),
    ]
    break_even: Annotated[
        Tokens,
        Output(
            "Attention equals the matrices at",
            "E",
            assumes=("Every layer attends to the whole sequence.",),
        ),
    ]
    more_than_six: Annotated[
        Ratio, Output("Over six per parameter", assumes=("The two counts above, divided.",))
    ]
    longer: Annotated[
        Ratio,
        Output(
            "Over a length of 8,192",
            note="the same model and pairs",
            assumes=("At the same MFU, time grows in the same ratio.",),
        ),
    ]
    summed: Annotated[
        Operations,
        Output(
            "Sum over the matrices",
            note="what a counter of products finds",
            assumes=("The sum of the rows. Norms have none; the formula counts their parameters.",),
        ),
    ]
    counted: Annotated[Parameters, Output(symbol="N", of="model")]
    width: Annotated[Count, Output(symbol="W", of="model")]
    pairs: Annotated[Share, Output(symbol="v", of="counting")]
    column: tuple[Operations, ...]
    matrices: Operations


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, counting = MODELS[inputs.model], _counting_of(inputs)
    pairs = counted_pairs(counting)
    counted, width = counted_parameters(model, counting), attention_width(model)
    operations = token_operations(model, inputs.sequence_length, counting)
    matrices = token_operations(model, 0.0, counting)
    six = token_operations(model, inputs.sequence_length, "six")
    parts = token_cost_parts(model, inputs.sequence_length, pairs)
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


def _counting_of(inputs: Inputs) -> Counting:
    return "causal" if inputs.counting == "causal" else "matrices"


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the cost of a token over the sequence length, with the break-even marked."""
    low = min(result.matrices, min(_attention_operations(result))) / 2
    inside = LOW <= result.break_even <= HIGH
    matrices = [result.matrices] * len(COLUMN)
    label = present.say("equal at {break_even} tokens")
    return present.curve(
        "Operations per token over the sequence length",
        over=Scale("sequence_length", "sequence length, tokens", LOW, HIGH, log=True),
        shows=Scale("operations", "per token", low, 2 * result.column[-1], log=True),
        x=COLUMN,
        lines=(
            Line("all", "together", result.column, "compute"),
            Line("matrices", "matrices", matrices, "parameters", dashed=True),
            Line("attention", "attention", _attention_operations(result), "context", dashed=True),
        ),
        rules=(Rule(key="even", label=label, axis="x", at=result.break_even),) if inside else (),
        caption="Drag the handle: the matrices cost the same at any length, attention does not.",
    )


def _attention_operations(result: Result) -> tuple[Operations, ...]:
    return tuple(each - result.matrices for each in result.column)


def matrix_bars(present: Presenter, result: Result) -> Bars:
    """Return a bar for every matrix, of all layers: forward, and twice as much backward."""
    most = max(part.all for part in result.parts)
    return Bars(
        title="Operations of one token, by matrix, all layers together",
        axis=present.axis("operations", "operations", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=part.key,
                label=MATRIX_NAMES[part.key],
                segments=tuple(
                    Segment(key=key, label=label, value=part.forward, color=color)
                    for key, label, color in (
                        ("forward", "forward", "compute"),
                        ("inputs", "gradient of its input", "activations"),
                        ("weights", "gradient of its weight", "gradients"),
                    )
                ),
                links=(f"matrix:{part.key}",),
            )
            for part in result.parts
        ),
        caption="Each bar has three equal parts: the forward pass and the two products of the "
        "backward pass. Attention has no weight; its last part is the gradient of its second "
        "factor.",
    )


TITLE = "What one token costs"
QUESTION = "How many operations does training spend on one token, and on which matrices?"
HEADLINE = "operations"
EQUATIONS = (TOKEN_OPERATIONS, BREAK_EVEN_LENGTH)
PRESETS = {
    "Llama 3 8B, a million tokens": {"sequence_length": 1 << 20},
    "Llama 3 405B": {"model": "llama-3-405b"},
    "DeepSeek-V3, a mixture of experts": {"model": "deepseek-v3", "sequence_length": 4096},
    "260 parameters": {"model": "tiny-260", "sequence_length": 8},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **present.values("operations", "six", "attention", "break_even", "more_than_six"),
        **present.values("longer", "summed"),
        "formula": present.formula("One token, with these numbers", TOKEN_OPERATIONS),
        "curve": partial(curve, present, inputs, result),
        "by_matrix": partial(matrix_bars, present, result),
        "matrices": partial(matrix_table, present, result.parts),
    }
