"""Every page that plays a step shows the estimate's: the same job has the same step everywhere.

Pages are those of `SIMULATED` in `test_known.py`, which finds all that play a step by their
imports; one without a row here fails.
"""

import pytest

from engine.calculator import load, make
from engine.calculators.data_parallelism import fsdp_knobs, hybrid_lab, zero_2_lab, zero_3_lab
from engine.calculators.splitting_the_model import async_tensor
from engine.simulate.data_parallel.sharded_step import setting_run
from engine.simulate.step.step_time import step_time
from tests.engine.calculators.test_known import SIMULATED

# Page -> its run, from its inputs.
JOBS = {
    "zero_2_lab": lambda it: setting_run(zero_2_lab.setting_of(it, int(it.zero_stage))),
    "zero_3_lab": lambda it: setting_run(zero_3_lab.setting_of(it, it.prefetch)),
    "hybrid_lab": lambda it: setting_run(hybrid_lab.setting_of(it, hybrid_lab.width_of(it))),
    "fsdp_knobs": lambda it: setting_run(fsdp_knobs.setting_of(it)),
    "async_tensor": async_tensor.run_of,
}
# Compared by tests of their own.
ELSEWHERE = {
    "overlap_schedules": "tests/engine/calculators/whole_runs",
    "zero_3_knobs": "tests/engine/simulate/data_parallel",
}
# What no software does unasked is played, and the estimate has no word for it.
OWN = {"prefetch", "reshard", "unit", "second"}
GRID = [
    {"model": model, "ranks": ranks, "tokens": tokens, "port": port}
    for model in ("llama-3-8b", "llama-3-70b")
    for ranks in (16, 128, 512)
    for tokens in (1024, 8192)
    for port in (12.5e9, 50e9)
]
WITHIN = 0.005


def test_every_page_that_plays_a_step_is_compared():
    assert {*JOBS, *ELSEWHERE} == set(SIMULATED)


@pytest.mark.parametrize("name", JOBS)
def test_a_page_shows_the_estimates_step(name):
    page = load(name)
    presets = [change for change in page.presets.values() if not OWN & set(change)]
    assert presets
    for changes in ({}, *presets, *GRID):
        asked = {key: str(value) if key == "ranks" and name == "hybrid_lab" else value
                 for key, value in changes.items() if key in page.fields}  # fmt: skip
        if name == "async_tensor" and changes in GRID:
            asked["ranks"] = "8"
        inputs = make(page, asked)
        run = JOBS[name](inputs)
        total = step_time(run.model, run.cluster, run.plan, run.training).total
        assert page.solve(inputs).step_time == pytest.approx(total, rel=WITHIN), changes
