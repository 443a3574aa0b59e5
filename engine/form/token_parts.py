"""The matrices that process a token: display names and table."""

from collections.abc import Mapping

from engine.core.outputs import Presenter
from engine.core.text import Text
from engine.core.units import OPERATIONS
from engine.core.views import Table
from engine.simulate.layer.token_cost import TokenCostPart

MATRIX_NAMES: Mapping[str, str] = {
    "query": "queries",
    "key": "keys",
    "value": "values",
    "query_down": "queries, to the latent",
    "query_up": "queries, from the latent",
    "key_value_down": "keys and values, to the latent",
    "key_value_up": "keys and values, from the latent",
    "output": "attention output",
    "mlp_gate": "MLP gate",
    "mlp_up": "MLP up",
    "mlp_down": "MLP down",
    "router": "router",
    "experts_gate": "experts, gate",
    "experts_up": "experts, up",
    "experts_down": "experts, down",
    "shared_gate": "shared expert, gate",
    "shared_up": "shared expert, up",
    "shared_down": "shared expert, down",
    "attention": "scores and sums",
    "logits": "logits",
}


def matrix_table(present: Presenter, parts: tuple[TokenCostPart, ...]) -> Table:
    """Return every matrix with its shape and cost."""
    return Table(
        title="Every matrix that a token meets",
        columns=("Matrix", "Rows × columns", "Per token and layer", "Layers", "All layers"),
        rows=tuple(_row(present, part) for part in parts),
        caption="Each element of a weight costs two operations forward and four backward.",
        links=tuple((f"matrix:{part.key}",) for part in parts),
    )


def _row(present: Presenter, part: TokenCostPart) -> tuple[Text, ...]:
    shape = f"{part.rows:,} × {part.columns:,}" if part.rows else "no weight"
    if part.copies > 1:
        shape = f"{part.copies:.0f} of {shape}"
    each, whole = (part.all / part.layers, OPERATIONS), (part.all, OPERATIONS)
    return (
        MATRIX_NAMES[part.key],
        shape,
        present.say("{c}", c=each),
        f"{part.layers}",
        present.say("{c}", c=whole),
    )
