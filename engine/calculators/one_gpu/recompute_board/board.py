"""The board itself, the table of its tensors, and the verdict."""

from engine.calculators.one_gpu.recompute_board.inputs import NAMES, Inputs
from engine.calculators.one_gpu.recompute_board.result import Result
from engine.calculators.one_gpu.recompute_board.tile_board import Row, Tile, tile_board
from engine.catalog.models import MODELS
from engine.core.numbers import format_value
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, OPERATIONS
from engine.core.views import Badge, Scene, Table
from engine.form.memory_fit import fit_badge
from engine.simulate.memory.saved_tensors import ANCHOR, SavedTensor

_ROWS = (
    ("input", (ANCHOR,)),
    ("norm", ("normed",)),
    ("q, k, v", ("query", "key", "value")),
    ("positions", ("rotated",)),
    ("softmax", ("softmax", "score_mask", "dropped_scores")),
    ("attention", ("attended", "normalizer", "output_mask")),
    ("output, +", ("middle",)),
    ("norm", ("normed_2",)),
    ("gate, up", ("gate", "up")),
    ("up", ("inner",)),
    ("SiLU, ×", ("product", "mlp_mask")),
)


def board(result: Result) -> Scene:
    """Return the layer with every saved tensor as a tile."""
    by_key = {tensor.key: tensor for tensor in result.job.layer.tensors}
    largest = max(tensor.size for tensor in by_key.values())
    rows = []
    for name, keys in _ROWS:
        tiles = tuple(_tile(result, by_key[key], largest) for key in keys if key in by_key)
        if tiles:
            is_gelu = name == "SiLU, ×" and "inner" in by_key
            rows.append(Row(name="GELU" if is_gelu else name, tiles=tiles))
    return tile_board(
        "What one layer saves for its backward pass",
        rows,
        _summary(result),
        "Click a tile, or press space on it, to drop the tensor or keep it again. The bar in a "
        "tile is its size beside the largest. A dropped tile shows what making it again costs.",
    )


def _summary(result: Result) -> Text:
    layer = result.job.layer
    return say(
        "One layer keeps {k} of {e}, all layers {a}. {o} of each layer run again.",
        k=(result.kept_layer, BYTES),
        e=(layer.size, BYTES),
        a=(result.kept, BYTES),
        o=(result.again, OPERATIONS),
    )


def _tile(result: Result, tensor: SavedTensor, largest: float) -> Tile:
    cost = result.job.layer.operations[tensor.operator]
    price = format_value(cost, OPERATIONS) if cost else "cheap"
    return Tile(
        key=tensor.key,
        input="" if tensor.key == ANCHOR else f"keep_{tensor.key}",
        name=NAMES[tensor.key][1],
        size=format_value(tensor.size, BYTES),
        share=tensor.size / largest,
        price=price,
        kept=tensor.key not in result.gone,
        caption=_tensor_caption(result, tensor),
    )


def _tensor_caption(result: Result, tensor: SavedTensor) -> Text:
    cost = result.job.layer.operations[tensor.operator]
    name = NAMES[tensor.key][0]
    words = f"{name[0].upper()}{name[1:]}: {{s}} in every layer, {{a}} in all. "
    if tensor.key == ANCHOR:
        words += "From here the layer can be made again, so it always stays."
    elif cost:
        words += "Its operator computes {o} in every layer."
    else:
        words += "Its operator only passes over memory."
    return say(
        words,
        s=(tensor.size, BYTES),
        a=(result.layers * tensor.size, BYTES),
        o=(cost, OPERATIONS),
    )


def change_notes(inputs: Inputs) -> tuple[Text, ...]:
    """Return the notes on inputs that were adjusted and on settings that no software runs."""
    sentences: list[Text] = []
    tensor, heads = inputs.tensor_parallel, MODELS[inputs.model].num_attention_heads
    if tensor > inputs.world_size:
        sentences.append(say("Computed on {t} GPUs, one for each tensor rank.", t=(tensor, COUNT)))
    if heads % tensor:
        words = "{t} tensor ranks do not divide the {h} attention heads; no software runs this."
        sentences.append(say(words, t=(tensor, COUNT), h=(heads, COUNT)))
    return tuple(sentences)


def fits_badge(present: Presenter, result: Result) -> Badge:
    """Return whether the step fits."""
    if result.fixed > result.usable:
        words = "The states alone need {fixed}; {usable} may be filled. Use more GPUs."
        return Badge(text="Out of memory", sentence=present.say(words), color="buffers")
    return fit_badge(result.fit, "The fullest moment")


def tensor_table(result: Result) -> Table:
    """Return every tensor with its bytes, its price, and the bytes that an operation buys."""
    layer = result.job.layer
    return Table(
        title="Every saved tensor, and what dropping it costs",
        columns=("Tensor", "One layer", "All layers", "Made again"),
        rows=tuple(
            (
                NAMES[tensor.key][0] + (" (dropped)" if tensor.key in result.gone else ""),
                say("{s}", s=(tensor.size, BYTES)),
                say("{s}", s=(result.layers * tensor.size, BYTES)),
                _recompute_cost(layer.operations[tensor.operator], tensor.key),
            )
            for tensor in layer.tensors
        ),
        caption="Operations are those of one layer, forward. Cheap: one pass over memory.",
        links=tuple((f"tensor:{tensor.key}",) for tensor in layer.tensors),
    )


def _recompute_cost(cost: float, key: str) -> Text:
    if key == ANCHOR:
        return "stays"
    return say("{o}", o=(cost, OPERATIONS)) if cost else "cheap"
