"""What is known of a predicted step is looked up once, and not before it is told."""

import pytest

from engine.core.lazy import Lazy
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import evidence_assumptions, range_text
from engine.simulate.step.nearest_runs import nearest_published_runs
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.step_range import prediction_spread

RUN = nearest_run(Inputs())[0]


def test_the_evidence_of_a_run_is_its_range_and_the_runs_nearest_to_it():
    found = evidence(RUN)()
    assert (found.run, found.spread, found.nearest) == (
        RUN,
        prediction_spread(RUN),
        nearest_published_runs(RUN),
    )


def test_it_is_looked_up_once_and_told_first_by_its_range():
    asked = []
    one = Lazy(lambda: asked.append(1) or evidence(RUN)())
    assert not asked
    assert evidence_assumptions(one)[0] == range_text(one)
    assert len(evidence_assumptions(one)) == 1 + len(nearest_published_runs(RUN))
    assert asked == [1]


@pytest.mark.parametrize("gpus", [8, 1024])
def test_two_runs_do_not_share_their_evidence(gpus):
    other = nearest_run(Inputs(world_size=gpus))[0]
    assert evidence(other)().run != evidence(RUN)().run
