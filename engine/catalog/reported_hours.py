"""Whole training runs and the GPU-hours that their authors give, failures and all."""

from engine.catalog.whole_run_record import WholeRun
from engine.catalog.whole_runs_meta import META_RUNS
from engine.catalog.whole_runs_others import OTHER_RUNS

WHOLE_RUNS: tuple[WholeRun, ...] = (*META_RUNS, *OTHER_RUNS)
