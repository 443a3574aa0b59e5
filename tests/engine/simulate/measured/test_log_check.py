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


RANKS = "".join(
    f"[titan] - INFO - step:  {step}  loss:  9.0  memory: 10.00GiB(12.50%)  tps: {rate}  tflops: "
    f"{rate / 20}  mfu: {rate / 200}%\n"
    for step, rate in ((1, 100), (1, 100), (2, 6000), (2, 6000), (3, 6000), (3, 6000))
)
NEOX = (
    " samples/sec: 8.000 | iteration       {}/   10000 | elapsed time per iteration (ms): 4000.0 | "
    "approx flops per GPU: 110.0TFLOPS | lm_loss: 1.1E+01 |\n"
)
MEGATRON = (
    " [2026-01-01 00:00:01] iteration       {}/     100 | elapsed time per iteration (ms): 500.0 | "
    "throughput per GPU (TFLOP/s/GPU): 240.0 | global batch size:    16 | lm loss: 1.8 |\n"
)


def test_a_log_of_every_rank_has_no_spread_and_no_drift():
    found = check_log(read_training_log(RANKS), RUN)
    assert (found.numbers, found.steady.skipped, found.steady.drift) == ((1, 2, 3), 1, 0)
    assert found.steady.high == found.steady.low
    html = shown_of(RANKS)["reading"]
    assert "up to 2 times" in str(html)


def shown_of(text):
    return reply({"calculator": "log_check", "typed": {"log": text}})["outputs"]


def test_the_batch_of_neox_follows_from_its_rate():
    found = check_log(read_training_log(NEOX.format(34) + NEOX.format(35)), RUN)
    assert found.batch == 32
    assert found.token_rate == pytest.approx(32 * 8192 / 8 / 4.0)
    assert "takes 32 sequences a step, not 16" in shown_of(NEOX.format(34))["verdict"]["html"]


def test_an_mfu_above_the_whole_is_another_job():
    found = shown_of(MEGATRON.format(11) + MEGATRON.format(12))
    assert "Another job" in found["verdict"]["html"]
    assert "which is impossible" in found["verdict"]["html"]
    assert "by the 240" in found["mfu"]["note"]
    assert found["mfu"]["value"] == pytest.approx(240e12 / RUN.cluster.gpu.peak["bf16"])
    checked = check_log(read_training_log(MEGATRON.format(11)), RUN)
    peak = RUN.cluster.gpu.peak["bf16"]
    assert checked.printed_share == pytest.approx(240e12 / peak)


def test_length_and_gpus_of_a_log_come_before_those_of_the_form():
    head = (
        "1: [rank0]: Training starts at step 1, with local batch size 1, global batch size 32, "
        "sequence length 8192, total steps 1000 (warmup 200)\n  world_size .......... 32\n"
    )
    line = "step: 10  loss: 1.5  memory: 26.47GiB(33.47%)  wps: 1,786  mfu: 10.46%\n"
    found = check_log(read_training_log(head + 4 * line), RUN)
    assert found.steady.median == pytest.approx(8192 / 1786)
    assert (found.batch, found.gpus) == (32, 32)
    assert "runs on 32 GPUs, not 8" in shown_of(head + line)["verdict"]["html"]


def test_printed_operations_far_from_the_job_are_of_another_model():
    text = LOG_AT_240.format(5.0)
    assert "Another job" in shown_of(text)["verdict"]["html"]
    assert "The log prints" in shown_of(text)["verdict"]["html"]


LOG_AT_240 = (
    "iteration 5/ 10 | elapsed time per iteration (ms): {}E+04 | throughput per GPU "
    "(TFLOP/s/GPU): 240.0 | global batch size: 16 |\n"
)


MAXTEXT = (
    "completed step: 5, seconds: 2.000, TFLOP/s/device: 400.000, Tokens/s/device: {}, loss: 1.0\n"
)


def test_a_rate_beside_a_time_says_whether_the_job_is_another():
    """16 sequences of 8,192 tokens on 8 GPUs in two seconds: 8,192 tokens per second each."""
    assert "Another job" not in shown_of(MAXTEXT.format("8190.1"))["verdict"]["html"]
    other = shown_of(MAXTEXT.format("4096.0"))["verdict"]["html"]
    assert "Another job" in other
    assert "4,096\xa0tokens/s</span> for a GPU; by the job below it would be" in other


def test_labels_of_a_part_of_the_tokens_are_another_job():
    """As in Automodel's pull request 3473: fine-tuning on the answers, padded to no length."""
    line = (
        "2026-08-10 15:55:23 | INFO | root | step 10 | epoch 0 | loss 0.8534 | grad_norm 1.5040 | "
        "lr 1.00e-05 | mem 29.67 GiB | tps {}({}/gpu) | num_label_tokens {}\n"
    )
    part = line.format("13746.23", "1718.28", 29550)
    assert "Another job" in shown_of(part)["verdict"]["html"]
    whole = line.format("52000.00", "6500.00", 16 * 8192)
    assert "Another job" not in shown_of(whole)["verdict"]["html"]


def test_a_log_on_another_gpu_is_of_another_job():
    line = "[titan] - INFO - CUDA capacity: NVIDIA {} with 79.18GiB memory\n"
    steps = SAMPLES["torchtitan"].text
    other = shown_of(line.format("B200") + steps)["verdict"]["html"]
    assert "Another job" in other
    assert "runs on NVIDIA B200, not H100 SXM" in other
    assert "Another job" not in shown_of(line.format("H100 80GB HBM3") + steps)["verdict"]["html"]
