"""Local steps: bytes fall with the meetings, and ranks that rarely meet drift apart."""

import pytest

from engine.core.slices import run_to_end
from engine.formulas.communication import ring_bytes_sent
from engine.tiny import local_steps
from engine.tiny.compressed import RANKS, STEPS
from engine.tiny.local_steps import SEEN, train
from tests.each import each

SIZE = 260


@each("inner", [1, 4, 16, 48])
def test_bytes_fall_with_the_meetings(inner):
    run = train(inner, "mean")
    assert len(run.meetings) == STEPS // inner
    assert run.sent == len(run.meetings) * ring_bytes_sent(SIZE, RANKS)


def test_the_last_step_is_a_meeting():
    assert train(5, "mean").meetings[-1] == STEPS
    assert len(train(5, "mean").losses) == STEPS // SEEN + 1


def test_ranks_drift_further_apart_the_rarer_they_meet():
    apart = [max(train(inner, "mean").apart) for inner in (1, 4, 16, 48)]
    assert apart == sorted(apart)
    assert apart[-1] > 10 * apart[0]


def test_one_meeting_at_the_end_has_learned_little():
    assert train(48, "mean").last > 2 * train(4, "mean").last


def test_an_outer_step_of_one_without_momentum_is_the_mean(monkeypatch):
    monkeypatch.setattr(local_steps, "OUTER_RATE", 1.0)
    monkeypatch.setattr(local_steps, "OUTER_MOMENTUM", 0.0)
    found = run_to_end(local_steps.training_steps(16, "nesterov")).losses
    assert found == pytest.approx(train(16, "mean").losses, rel=1e-9)
