"""The classes of published runs that errors are told by."""

from collections.abc import Callable, Mapping

from engine.run.published import PublishedRun
from tests.validation.fit import family

Key = Callable[[PublishedRun], str]


def kind(case: PublishedRun) -> str:
    """Dense, a mixture of experts, or adapters of either."""
    if case.run.training.lora_rank:
        return "adapters"
    return "mixture" if case.moe else "dense"


def framework(case: PublishedRun) -> str:
    """The family of software, and whether its element-wise kernels are fused."""
    training = case.run.training
    return training.framework + ("" if training.compiled else ", eager")


def scale(case: PublishedRun) -> str:
    """The range of its number of GPUs, in powers of four."""
    gpus, low = case.run.plan.world_size, 8
    while low * 4 <= gpus:
        low *= 4
    return f"{low:4d} to {low * 4 - 1} GPUs"


CLASSES: Mapping[str, Key] = {
    "All": lambda case: "all",
    "Completeness": lambda case: "complete" if case.complete else "something assumed",
    "Source": lambda case: case.row["source_file"].removesuffix(".csv"),
    "GPU": family,
    "Precision": lambda case: case.run.training.precision,
    "Framework": framework,
    "Scale": scale,
}
