"""How much a calibration narrows a range: by no more than published runs and chance bear out."""

import math
import random
import statistics
from collections import defaultdict
from dataclasses import replace

import pytest

from engine.catalog.reader_constants import (
    NAMES,
    MeasuredConstant,
    OwnConstants,
    gpu_constants,
    pace_key,
)
from engine.catalog.unseen_errors import CLASSES
from engine.catalog.unseen_runs import unseen_logs
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.step.error_attribution import (
    BETWEEN_GROUPS,
    CLUSTER_DEVIATION,
    cluster_share,
    explained_variance,
    sensitivity,
)
from engine.simulate.step.step_range import prediction_spread, run_classes
from engine.simulate.step.step_time import step_time
from engine.simulate.step.what_if import run_step_time
from tests.validation.published import DATA
from tests.validation.rows import cases

RUN = nearest_run(Inputs())[0]
GPU = "H100-SXM"


def groups():
    """Logarithms of predicted over measured, by source, GPU, precision and software."""
    found = defaultdict(list)
    logs = unseen_logs()
    for case in cases(DATA)[0]:
        name = case.row["row_id"]
        if name in logs:
            training = case.run.training
            key = pace_key(training.precision, training.framework)
            found[name.split("-")[0], case.run.cluster.gpu.name, key].append((case.run, logs[name]))
    return found


GROUPS = groups()


def owning(error=0.0, names=NAMES, **more):
    table = gpu_constants(RUN.cluster.gpu, None)
    measured = tuple((n, MeasuredConstant(value=getattr(table, n), error=error)) for n in names)
    return OwnConstants(gpu=GPU, measured=measured, **more)


def on(own, run=RUN):
    return replace(run, cluster=replace(run.cluster, own_constants=own))


def test_the_part_between_groups_is_that_of_the_published_runs():
    values = [[log for _, log in group] for group in GROUPS.values()]
    everything = [log for group in values for log in group]
    count, kinds = len(everything), len(values)
    inside = sum((x - statistics.mean(group)) ** 2 for group in values for x in group)
    inside /= count - kinds
    middle = statistics.mean(everything)
    between = sum(len(group) * (statistics.mean(group) - middle) ** 2 for group in values)
    size = (count - sum(len(group) ** 2 for group in values) / count) / (kinds - 1)
    between = (between / (kinds - 1) - inside) / size
    assert between / (between + inside) == pytest.approx(BETWEEN_GROUPS, abs=0.01)


def tried():
    """Each run of a group predicted with the pace of another: (plain error, paced error, run)."""
    for group in GROUPS.values():
        for i, (run, log) in enumerate(group):
            _, other = group[(i + 1) % len(group)]
            if len(group) > 2:
                yield log, log - cluster_share() * other, run


def test_the_pace_of_one_logged_run_makes_others_of_its_group_more_accurate():
    rows = list(tried())
    plain, paced = (math.sqrt(statistics.mean(row[i] ** 2 for row in rows)) for i in (0, 1))
    assert len(rows) > 600
    assert paced < 0.97 * plain


def test_the_narrower_range_still_holds_four_in_five():
    """With the pace of one other run of its group, of all published runs nobody fitted."""
    inside = []
    narrower = (1 - cluster_share() * BETWEEN_GROUPS) ** 0.5
    for _, paced, run in tried():
        name = next(name for name in run_classes(run) if name in CLASSES)
        _, low, high = CLASSES[name]
        inside.append(low * narrower <= paced <= high * narrower)
    assert 0.78 < statistics.mean(inside) < 0.9


def test_steps_on_measured_clusters_lie_in_the_narrower_range():
    """Clusters whose constants differ as assumed, with a rest of error that is not theirs.

    Each is measured with an error of one percent, and its step predicted with what was measured:
    of 2,000, more than eight in ten lie in the range that is narrower by what that explains.
    """
    chance = random.Random(23)
    name = next(name for name in run_classes(RUN) if name in CLASSES)
    deviation = (CLASSES[name][2] - CLASSES[name][1]) / 2 / 1.44
    share = explained_variance(on(owning(error=0.01)), name)
    rest, limit = deviation * math.sqrt(1 - BETWEEN_GROUPS), 1.44 * deviation * math.sqrt(1 - share)
    blind, seeing = [], []
    for _ in range(2000):
        true = measured({n: math.exp(chance.gauss(0, CLUSTER_DEVIATION[n])) for n in NAMES})
        noted = measured({n: math.exp(chance.gauss(0, 0.01)) for n in NAMES}, true)
        real = step_with(true) * math.exp(chance.gauss(0, rest))
        blind.append(math.log(run_step_time(RUN).total / real))
        seeing.append(math.log(step_with(noted) / real))
    assert share > 0.2
    assert statistics.mean(abs(error) <= limit for error in seeing) > 0.8
    assert statistics.pstdev(seeing) < 0.8 * statistics.pstdev(blind)


def measured(factors, table=None):
    table = table or gpu_constants(RUN.cluster.gpu, None)
    return replace(table, **{n: getattr(table, n) * factors[n] for n in NAMES})


def step_with(table):
    return step_time(RUN.model, RUN.cluster, RUN.plan, RUN.training, table).total


def test_the_range_is_narrower_by_what_is_explained():
    plain, own = prediction_spread(RUN), prediction_spread(on(owning(error=0.01)))
    assert 0 < own.explained <= BETWEEN_GROUPS
    factor = math.sqrt(1 - own.explained)
    assert math.log(own.low) == pytest.approx(factor * math.log(plain.low))
    assert math.log(own.high) == pytest.approx(factor * math.log(plain.high))


def test_measurements_that_are_less_certain_than_the_catalog_widen_the_range():
    plain, own = prediction_spread(RUN), prediction_spread(on(owning(error=0.1)))
    assert own.explained < 0
    assert own.low < plain.low


def test_constants_of_another_gpu_explain_nothing():
    own = replace(owning(), gpu="A100-SXM-80GB")
    assert prediction_spread(on(own)).explained == 0
    assert run_step_time(on(own)).total == run_step_time(RUN).total


def test_a_log_explains_a_part_of_what_is_left():
    alone = prediction_spread(on(owning(names=(), pace=1.05, paced="16.megatron"))).explained
    assert alone == pytest.approx(BETWEEN_GROUPS**2)
    both = prediction_spread(on(owning(error=0.01, pace=1.05, paced="16.megatron"))).explained
    assert prediction_spread(on(owning(error=0.01))).explained < both < BETWEEN_GROUPS


def test_the_pace_of_a_log_is_the_step_s():
    slower = run_step_time(on(owning(names=(), pace=1.1, paced="16.megatron"))).total
    assert slower == pytest.approx(1.1 * run_step_time(RUN).total, rel=0.01)
    other = run_step_time(on(owning(names=(), pace=1.1, paced="16.fsdp"))).total
    assert other == run_step_time(RUN).total


def test_a_step_grows_as_constants_fall_and_with_the_fill():
    assert 0.3 < sensitivity(RUN, "matmul") < 1
    assert sensitivity(RUN, "fill") < 0
    assert sensitivity(RUN, "matmul_fp8") == 0
