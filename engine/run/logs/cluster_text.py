"""A reader's measurements of a cluster, in one text: the script's output, nccl-tests, a log."""

from dataclasses import dataclass

from engine.run.importers.text_error import TextError
from engine.run.logs.calibration import Timings, has_calibration, read_calibration
from engine.run.logs.nccl import NcclOutput, read_nccl
from engine.run.logs.training import TrainingLog, read_training_log

LONGEST_CLUSTER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMeasurements:
    """Measurements found in a text, None for each missing kind."""

    timings: Timings | None
    nccl: NcclOutput | None
    log: TrainingLog | None


def read_cluster_text(text: str) -> ClusterMeasurements:
    """Return the measurements of a text; raise `TextError` if it contains none."""
    timings = None
    text_of_logs = text
    if has_calibration(text):
        timings = read_calibration(text)
        # One line; its numbers would look like rows of a table.
        text_of_logs = "\n".join(
            "" if line.lstrip().startswith("{") else line for line in text.split("\n")
        )
    nccl, log = _try_nccl(text_of_logs), _try_training_log(text_of_logs)
    if timings is None and nccl is None and log is None:
        raise TextError(
            "line 1: no measurement is recognized; allowed: the output of the script, a table of "
            "nccl-tests, steps of a training log, or several of them"
        )
    return ClusterMeasurements(timings=timings, nccl=nccl, log=log)


def _try_nccl(text: str) -> NcclOutput | None:
    try:
        output = read_nccl(text)
    except TextError:
        return None
    return output if output.table and output.table.rows else None


def _try_training_log(text: str) -> TrainingLog | None:
    try:
        return read_training_log(text)
    except TextError:
        return None
