"""A reader's text as a run: read once for the check under its box and for the results."""

from dataclasses import replace
from functools import lru_cache

from engine.catalog.models import MODELS, Model
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import parse
from engine.run.importers.assemble import Defaults, Imported, imported

AS_SAID = "as-said"


@lru_cache(maxsize=4)
def read_text(
    text: str, model: str = AS_SAID, node: str = "dgx-h100", gpus: int = 0, own: str = ""
) -> Imported:
    """Return what a text says; model, machines and GPUs stand where it does not.

    `own` are constants that the reader measured on the machines.
    """
    one = NODES[node]
    cluster: dict[str, object] = {
        "gpu": one.gpu,
        "gpus_per_node": one.gpus_per_node,
        "nics_per_node": one.nics_per_node,
        "nic_bandwidth": one.nic_bandwidth,
    }
    known = "" if model == AS_SAID else model
    found = imported(text, Defaults(model=known, cluster=cluster, world_size=gpus))
    if found.run is None or not own:
        return found
    cluster_of_run = replace(found.run.cluster, own=parse(own))
    return replace(found, run=replace(found.run, cluster=cluster_of_run))


def known_model(model: Model) -> str:
    """Return the row of the catalog that a model is; "" if it is none."""
    return next((key for key, one in MODELS.items() if one == model), "")
