"""Assertions of torchtitan on the sizes of a job, in its own words.

Source: b5bcd76c: `trainer.py`, which counts tokens (up to 0.3: sequences), and
`distributed/pipeline_parallel.py`.
"""

from engine.catalog.recent_models import EVERY_MODEL
from engine.run.importers.import_report import RunDraft


def check_batch(batch: int, local: int, ranks: int, length: int) -> str:
    """Return torchtitan's error for a batch that does not divide, or an empty text.

    Args:
        batch: sequences of a step.
        local: of one forward and backward pass of a rank.
        ranks: data-parallel ones.
        length: of a sequence where the text counts tokens, otherwise 0.
    """
    if batch % (local * ranks) == 0:
        return ""
    if length:
        return (
            f"training.num_tokens_per_train_step ({batch * length}) must be divisible by the "
            "number of tokens processed globally in one gradient accumulation iteration "
            f"({local * ranks * length})."
        )
    return (
        "global batch size must be multiple of local batch size times data-parallel degree "
        f"({batch} % ({local} * {ranks}) != 0)"
    )


def check_stages(draft: RunDraft, pipeline: int) -> str:
    """Return torchtitan's error for more stages than layers, or an empty text."""
    model = EVERY_MODEL.get(str(draft.values.get("model", "")))
    stages = pipeline * draft.get("parallelism.virtual_pipeline")
    layers = model.num_layers + 2 if model else 0  # embedding and output count as one each
    if model is None or pipeline < 2 or stages <= layers:
        return ""
    return f"Number of stages ({stages}) cannot be greater than effective layers ({layers})"
