"""A training run as a run file describes it.

Its model may be a whole `config.json`, or one whose layers differ. What the engine writes itself
has no such model: `engine.run.document` reads that, and is smaller.
"""

from collections.abc import Mapping

from engine.catalog.models import Model
from engine.catalog.recent_models import RECENT_MODELS
from engine.run import document
from engine.run.document import InputError as InputError
from engine.run.importers.hugging_face import is_hugging_face_config, read_config_model
from engine.run.layer_keys import indivisible_layers, read_mixed_model
from engine.run.run import Run


def read_run(value: object) -> Run:
    """Return the run that a document describes; raise `InputError` with every problem found."""
    run = document.read_document(value, read_model)
    if problems := indivisible_layers(run.model, run.plan, run.training):
        raise InputError(problems)
    return run


def read_model(value: object, problems: list[str]) -> Model | None:
    """Return a model of the catalog, of a `config.json` or of the keys of a run file."""
    if isinstance(value, str) and value in RECENT_MODELS:
        return RECENT_MODELS[value]
    if isinstance(value, Mapping) and "layers" in value:
        return read_mixed_model(value, problems)
    if not (isinstance(value, Mapping) and is_hugging_face_config(value)):
        return document.read_model(value, problems)
    before = len(problems)
    model = read_config_model(value, "model", problems)
    return model if len(problems) == before else None
