"""The constants of the tables are what the fit finds: a tenth away every run fits worse."""

from dataclasses import replace

import pytest

from engine.catalog.constants import ACHIEVED, COMMON
from tests.validation.fit import (
    ATTENTION,
    COMMON_PRIOR,
    FREE,
    PRIOR,
    common_loss,
    family,
    loss,
    weights,
)
from tests.validation.published import DATA
from tests.validation.rows import cases

RUNS = [case for case in cases(DATA)[0] if case.trusted]
SHARES = weights(RUNS)
BEST = common_loss(RUNS, SHARES, COMMON)
# The first of each family, as in the fit.
FOUND = {name.split()[0]: found for name, found in reversed(ACHIEVED.items())}


@pytest.mark.parametrize("name", COMMON_PRIOR)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_no_common_constant_fits_better_a_tenth_away(name, factor):
    moved = replace(COMMON, **{name: getattr(COMMON, name) * factor})
    assert common_loss(RUNS, SHARES, moved) > BEST - 5e-5


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("gpu", PRIOR)
def test_no_constant_of_a_gpu_fits_better_a_twentieth_away(gpu, name):
    chosen = [case for case in RUNS if family(case) == gpu]
    shares, prior, found = weights(chosen), {**ATTENTION, **PRIOR[gpu]}, FOUND[gpu]
    best = loss(chosen, shares, found, prior)
    for factor in (0.95, 1.05):
        moved = replace(found, **{name: getattr(found, name) * factor})
        assert loss(chosen, shares, moved, prior) > best - 1e-4
