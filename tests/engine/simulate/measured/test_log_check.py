from dataclasses import replace

import pytest

from engine.answer import reply
from engine.calculators.whole_runs.log_check import Inputs, solve
from engine.estimate import estimate
from engine.form.log_samples import SAMPLES
from engine.form.short_job import job_run
from engine.run.logs.training import read_training_log
from engine.simulate.measured.log_check import check_log

RUN = job_run(Inputs())


def log_of(times, *, mfu=0.0):
    lines = (
        f"step: {number}  loss: 1.0  memory: 10.00GiB(1%)  tps: {16 * 8192 / 8 / time:.4f}  "
        f"tflops: 1.0  mfu: {100 * mfu}%"
        for number, time in enumerate(times, 1)
    )
    return read_training_log("\n".join(lines))


def test_tokens_per_second_become_the_time_of_a_step():
    found = check_log(log_of([2.0] * 20), RUN)
    assert found.steady.median == pytest.approx(2.0, rel=1e-5)
    assert found.token_rate == pytest.approx(16 * 8192 / 8 / 2.0, rel=1e-5)


def test_a_log_at_the_predicted_speed_has_the_predicted_mfu():
    predicted = estimate(RUN)
    found = check_log(log_of([predicted["step_time"]] * 20), RUN)
    assert found.mfu == pytest.approx(predicted["mfu"], rel=1e-4)
    assert (found.least, found.most) == (predicted["step_time_low"], predicted["step_time_high"])


def test_the_batch_of_the_log_counts_before_that_of_the_job():
    line = "iteration 5/ 10 | elapsed time per iteration (ms): 1000.0 | global batch size: 32 |"
    found = check_log(read_training_log(line), RUN)
    assert found.batch == 32
    assert found.token_rate == pytest.approx(32 * 8192 / 8)


def test_samples_per_second_are_of_the_whole_job():
    line = "global_step=7, RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec=8.0, MaxMemAllocated=1GB"
    assert check_log(read_training_log(line), RUN).steady.median == pytest.approx(2.0)


def test_micro_batches_that_end_no_step_give_no_answer():
    line = "Epoch 1 | iter 1 step 0 | loss train: 9.1, val: n/a | iter time: 500.12 ms remaining"
    assert check_log(read_training_log(line), RUN) is None


def test_the_published_speed_of_torchtitan_is_as_predicted():
    """6,667 tokens per second per GPU: Llama 3.1 8B on 8 H100, compiled (torchtitan)."""
    found = check_log(log_of([16 * 8192 / 8 / 6667] * 30), RUN)
    assert found.least <= found.steady.median <= found.most


def shown(**values):
    return reply({"calculator": "log_check", "values": values})["outputs"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_as_its_own_framework(name):
    log = read_training_log(SAMPLES[name].text)
    assert log.source.lower().startswith(name[:5])
    assert len(log.steps) >= 20
    assert log.unread == 0


def test_a_log_that_slows_down_says_so():
    found = solve(replace(Inputs(), log=SAMPLES["deepspeed"].text))
    assert found.drift > 0.1
    assert "It becomes slower" in shown(log="sample:deepspeed")["verdict"]["html"]


def test_a_printed_mfu_that_divides_by_another_peak_is_told():
    assert "another count or another peak" in shown()["mfu"]["note"]
    alike = log_of([2.0] * 20, mfu=check_log(log_of([2.0] * 20), RUN).mfu)
    assert check_log(alike, RUN).printed_mfu == pytest.approx(check_log(alike, RUN).mfu, rel=1e-3)


def test_a_log_without_a_whole_step_answers_in_words():
    text = "Epoch 1 | iter 1 step 0 | loss train: 9.1, val: n/a | iter time: 500.12 ms remaining"
    found = reply({"calculator": "log_check", "typed": {"log": text}})["outputs"]
    assert "No whole step" in found["verdict"]["html"]
    assert found["step_time"]["value"] is None


def test_a_log_with_another_batch_is_not_held_against_the_prediction():
    told = shown(log="sample:megatron")["verdict"]["html"]
    assert "Another job" in told
    assert "Another job" not in shown()["verdict"]["html"]
