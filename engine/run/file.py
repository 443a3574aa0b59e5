"""A training run as a run file describes it; its model may be a whole `config.json`.

What the engine writes itself has no such model: `engine.run.document` reads that, and is smaller.
"""

from collections.abc import Mapping

from engine.catalog.models import Model
from engine.run import document
from engine.run.document import InputError as InputError
from engine.run.importers.hugging_face import is_configuration, model_of
from engine.run.run import Run


def read(given: object) -> Run:
    """Return the run that a document describes; raise `InputError` with every problem found."""
    return document.read_document(given, read_model)


def read_model(given: object, found: list[str]) -> Model | None:
    """Return a model of the catalog, of a `config.json` or of the keys of a run file."""
    if not (isinstance(given, Mapping) and is_configuration(given)):
        return document.read_model(given, found)
    before = len(found)
    model = model_of(given, "model", found)
    return model if len(found) == before else None
