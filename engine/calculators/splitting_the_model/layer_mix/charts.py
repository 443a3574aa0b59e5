"""Figures of the composer of layers."""

from collections.abc import Sequence

from engine.calculators.splitting_the_model.layer_mix.inputs import HIGH, LOW, Inputs
from engine.calculators.splitting_the_model.layer_mix.result import LENGTHS, PLANNED, Result
from engine.catalog.mixed_runs import SOURCE
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, OPERATIONS, SHARE, TOKEN_RATE
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Citation,
    Frame,
    Line,
    Lines,
    Scale,
    Scene,
    Segment,
    Shape,
    Table,
)
from engine.draw.shapes import rect, text

NAMES = {
    "*": "full attention",
    "W": "attention in a window",
    "S": "attention to chosen keys",
    "G": "gated DeltaNet",
    "K": "Kimi Delta Attention",
    "M": "Mamba-2",
    "E": "experts alone",
    "-": "feed-forward alone",
    "": "output layer",
}
PRECISIONS = {"fp8": "MXFP8", "fp4": "NVFP4"}
_COLORS = {"*": "tensor", "W": "pipeline", "S": "data", "E": "expert", "-": "expert"}
_LINEAR = "context"
_WAYS = {
    "ring": "keys and values of the others, around a ring",
    "gather": "keys, or the latents and index keys that stand for them, all at once",
    "heads": "all tokens of some heads, and the results back",
}
_WIDTH, _PER_ROW, _TALL, _ROW = 480.0, 31, 20.0, 24.0
_LENGTH = Scale(COUNT, "sequence length, tokens", LOW, HIGH, log=True)
_TWIN = "full attention in every layer"


def over_length(present: Presenter, result: Result) -> Lines:
    """Return the operations of a token over the length, with and without other layers."""
    mixed, twin, matrices = result.over_length
    low, high = 0.6 * matrices[0], 1.3 * max(*mixed, *twin)
    return present.curve(
        "Operations per token over the sequence length",
        over=_LENGTH,
        shows=Scale("operations", "operations per token", low, high, log=True),
        x=LENGTHS,
        lines=(
            Line("own", "these layers", mixed, "compute"),
            Line("twin", _TWIN, twin, "muted", dashed=True),
            Line("matrices", "matrices alone", matrices, "parameters", dashed=True),
        ),
        handle="sequence_length",
        caption="Drag the handle. The matrices cost the same at any length; what grows is the "
        "work between tokens.",
    )


def cache_curve(present: Presenter, result: Result) -> Lines:
    """Return the chart of a sequence's cache over its length."""
    return _beside_twin(
        present,
        "KV cache and states of one sequence",
        ("cache", "keys, values and states", "activations"),
        (LENGTHS, *result.caches()),
        "A state has one size at any length; keys and values of full attention grow.",
    )


def rate_curve(present: Presenter, result: Result) -> Lines:
    """Return the predicted speed over the length."""
    return _beside_twin(
        present,
        "Predicted tokens per second of a GPU, by length",
        ("rate", "tokens per second per GPU", "compute"),
        (PLANNED, *result.rates()),
        "At each length the fastest plan that fits, or the one that needs least memory.",
    )


def _beside_twin(
    present: Presenter,
    title: str,
    shown: tuple[str, str, str],
    columns: tuple[Sequence[float], Sequence[float], Sequence[float]],
    caption: str,
) -> Lines:
    """Return a chart over the length, of these layers and of full attention in every layer.

    `shown` is the output, the axis label and the color; `columns` are lengths and both curves.
    """
    output, label, color = shown
    lengths, mixed, twin = columns
    low, high = 0.5 * min(*mixed, *twin), 1.5 * max(*mixed, *twin)
    return present.curve(
        title,
        over=_LENGTH,
        shows=Scale(output, label, low, high, log=True),
        x=lengths,
        lines=(
            Line("own", "these layers", mixed, color),
            Line("twin", _TWIN, twin, "muted", dashed=True),
        ),
        handle="sequence_length",
        caption=caption,
    )


def by_kind(result: Result) -> Bars:
    """Return the operations of a token by kind of layer."""
    bars = []
    for kind in result.kinds:
        parts = (
            ("mixing", "matrices of the mixer", kind.mixing, "parameters"),
            ("pairs", "between tokens", kind.pairs, "context"),
            ("feed", "feed-forward and output", kind.feed_forward, "expert"),
        )
        name = NAMES[kind.letter]
        bars.append(
            Bar(
                key=f"kind{kind.letter}",
                label=f"{kind.layers} x {name}" if kind.letter else name,
                segments=tuple(
                    Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts if v
                ),
            )
        )
    most = max(kind.total for kind in result.kinds)
    return Bars(
        title="Operations of one token, by kind of layer",
        axis=Axis(label="operations", quantity=OPERATIONS, low=0.0, high=1.04 * most),
        bars=tuple(bars),
        caption="Forward and backward. A layer's feed-forward part is counted with its mixer.",
    )


def strip(inputs: Inputs, result: Result) -> Scene:
    """Return the layers in order, colored by kind."""
    shapes: list[Shape] = []
    each = _WIDTH / _PER_ROW
    for layer, letter in enumerate(result.letters):
        row, column = divmod(layer, _PER_ROW)
        shapes.append(
            rect(
                f"layer{layer}",
                (column * each + 1, row * _ROW),
                (each - 2, _TALL),
                f"cell c-{color_of(letter)}",
                (("fill-opacity", "0.5"),),
            )
        )
        at = (column + 0.5) * each, row * _ROW + 15
        shapes.append(text(f"letter{layer}", *at, 13, letter))
    rows = -(-len(result.letters) // _PER_ROW)
    top = rows * _ROW + 16
    for line, letter in enumerate(dict.fromkeys(result.letters)):
        y = top + 20 * line
        box = (0.0, y - 11), (14.0, 14.0)
        look = (("fill-opacity", "0.5"),)
        shapes.append(rect(f"key{letter}", *box, f"cell c-{color_of(letter)}", look))
        count = result.letters.count(letter)
        shapes.append(
            text(f"word{letter}", 22, y + 1, 15, f"{letter}  {count} x {NAMES[letter]}", "start")
        )
    height = top + 20 * len(set(result.letters))
    return Scene(
        title="The layers, in order",
        width=_WIDTH,
        height=height,
        frames=(Frame(caption=_order_text(inputs, result), shapes=tuple(shapes)),),
        caption="The letters are those of Megatron-LM's hybrid pattern where it has one.",
    )


def color_of(letter: str) -> str:
    """Return the color of a kind of layer."""
    return _COLORS.get(letter, _LINEAR)


def _order_text(inputs: Inputs, result: Result) -> Text:
    words = {
        "full": "full",
        "windowed": "windowed",
        "chosen": "with chosen keys",
        "linear": "linear",
    }
    counts = ", ".join(f"{count} {words[kind]}" for kind, count in result.counts if count)
    if result.letters == result.own_letters:
        return f"As published: {counts}."
    return f"Composed: {counts}. The sizes are published, this order is not."


def plan_badge(present: Presenter, result: Result) -> Badge:
    """Return the plan that was found, and whether it fits."""
    plan, training = result.plan.run.plan, result.plan.run.training
    axes = {
        "TP": plan.tensor_parallel,
        "PP": plan.pipeline_parallel,
        "CP": plan.context_parallel,
        "EP": plan.expert_parallel,
        "DP": plan.data_parallel,
    }
    words = ", ".join(f"{key} {size}" for key, size in axes.items() if size > 1)
    again = "; every layer is recomputed" if training.recompute == "full" else ""
    fit = result.plan.fit
    needs = say(
        f"{words}{again}. The GPU that holds most needs {{needed}} of {{usable}}.",
        needed=(fit.needed, BYTES),
        usable=(fit.usable, BYTES),
    )
    if fit.verdict == "fits":
        return Badge(text="The plan", sentence=needs, color="compute")
    return Badge(text="No plan of these fits", sentence=needs, color="communication")


def published_table(result: Result) -> Table:
    """Return published speeds of models with several kinds of layers beside predicted ones."""
    rows: list[tuple[Cell, ...]] = []
    for row, predicted in result.published():
        off = predicted / row.rate - 1
        rows.append(
            (
                f"{EVERY_MODEL[row.model].name}, {row.gpus} {row.gpu}, {PRECISIONS[row.precision]}",
                say("{p}", p=(predicted, TOKEN_RATE)),
                say("{p}", p=(row.rate, TOKEN_RATE)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                Citation((SOURCE,)),
            )
        )
    return Table(
        title="Published speeds of a GPU, and predicted ones",
        columns=("Run", "Predicted", "Published", "Prediction off by", "Source"),
        rows=tuple(rows),
        caption="Megatron-Bridge 26.08, experts balanced by force; layers of multi-token "
        "prediction and what is recomputed as in its recipes. No constant has seen these rows.",
    )


def exchange_table(result: Result) -> Table:
    """Return the bytes that a rank of context parallelism receives in each kind of layer."""
    ranks = result.plan.run.plan.context_parallel
    rows: list[tuple[Cell, ...]] = [
        (
            NAMES[exchange.letter],
            say("{b}", b=(exchange.received, BYTES)),
            _WAYS[exchange.way],
        )
        for exchange in result.exchanges()
    ]
    return Table(
        title=f"Received by a rank in one layer, forward, with CP {ranks}",
        columns=("Layer", "Received", "What"),
        rows=tuple(rows),
        caption="Without context parallelism nothing is. Only the ring can hide behind its "
        "attention. Of the keys that are gathered for a window, most are never read.",
    )
