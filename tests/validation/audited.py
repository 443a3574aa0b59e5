"""Runs of MLPerf Training as published runs that no constant was fitted to."""

import json
import math
from functools import cache

from engine.catalog.mlperf_runs import SEEN, mlperf_runs
from engine.run.document import read_document
from engine.run.published import PublishedRun
from engine.simulate.step.step_time import step_time
from tests.validation.calibrate import Logs


@cache
def audited_runs() -> tuple[PublishedRun, ...]:
    """Return the rows that are counted, and that no constant saw."""
    runs = []
    for row in mlperf_runs():
        if row.counted and row.key not in SEEN:
            document = json.loads(row.run_file)
            facts = {"row_id": row.key, "source_file": "mlperf", "flag": row.note}
            facts |= {"input_completeness": "A", "memory_value": "", "memory_unit": ""}
            run = read_document(document)
            runs.append(PublishedRun(row=facts, run=run, document=document, time=row.step))
    return tuple(runs)


def audited_errors() -> Logs:
    """Return of each its one error, in both ways: the logarithm of predicted over measured."""
    errors = {}
    for case in audited_runs():
        run = case.run
        step = step_time(run.model, run.cluster, run.plan, run.training).total
        error = math.log(step / case.time)
        errors[case.row["row_id"]] = (error, error)
    return errors
