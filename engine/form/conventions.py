"""The choice of how the operations of a token are counted."""

from collections.abc import Mapping

from engine.catalog.flop_conventions import CONVENTIONS, STEP_MODEL

COUNTINGS: Mapping[str, str] = {key: row.name for key, row in CONVENTIONS.items()}
STEP_MODEL_COUNT = f"Operations are counted as {CONVENTIONS[STEP_MODEL].name}, nothing repeated."
