"""Memory over a step: its fullest moment is the memory model's, and each part comes and goes."""

import pytest

from engine.catalog.models import MODELS
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.adapters import adapter_memory
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.step_memory import peak_step_moment, step_memory

LLAMA = MODELS["llama-3-8b"]
RATES = 7e14, 2.9e12


def played(ranks=1, recompute="none", trained="full"):
    plan = Plan(world_size=ranks, zero_stage=3)
    training = Training(
        micro_batch_size=1,
        global_batch_size=2 * ranks,
        sequence_length=8192,
        framework="fsdp",
        recompute=recompute,
        lora_rank=0 if trained == "full" else 16,
    )
    held = adapter_memory(LLAMA, plan, training, trained, trapped=False)
    return held, step_memory(LLAMA, plan, training, held, RATES), rank_memory(LLAMA, plan, training)


@pytest.mark.parametrize("ranks", [1, 8])
@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("trained", ["full", "lora", "qlora"])
def test_the_fullest_moment_is_that_of_the_memory_model(ranks, recompute, trained):
    held, instants, _ = played(ranks, recompute, trained)
    assert peak_step_moment(instants).total == pytest.approx(held.total, rel=1e-12)


def test_all_trained_is_the_memory_of_every_other_page():
    held, _, told = played()
    assert held == told


def test_the_first_micro_batch_is_less_full_than_the_second():
    _, instants, _ = played()
    peaks = [max(one.total for one in instants if one.microbatch == i) for i in (0, 1)]
    assert peaks[0] < peaks[1]


def test_gradients_appear_in_the_first_backward_pass_and_go_with_the_update():
    held, instants, _ = played()
    found = [one.gradients for one in instants]
    assert found[0] == 0
    assert max(found) == held.gradients
    assert found[-1] == 0


def test_time_never_runs_backward():
    _, instants, _ = played()
    times = [one.time for one in instants]
    assert times == sorted(times)
    assert times[0] == 0


def test_activations_are_gone_before_the_update():
    _, instants, _ = played()
    assert instants[-1].activations == instants[-2].activations == 0
