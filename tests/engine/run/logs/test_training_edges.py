"""Lines of logs that lack a mark, have a large number or an odd one, or come in odd places."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.training import complete_steps, read_training_log
from tests.each import each

MiB, GiB = 2.0**20, 2.0**30
MEGATRON = "iteration 5/ 10 | elapsed time per iteration (ms): 250.0 | global batch size: 8 |\n"
MEMORY = "memory (MB) | allocated: 1.0 | max allocated: 300.0 | max reserved: 400.0\n"
TITAN = "step: 3 memory: 2.00GiB(4%) tps: 500 tflops: 2.5 mfu: 50%\n"
SPEED = "global_step=7, CurrSamplesPerSec=4.5, MaxMemAllocated=2.0GB\n"
PIPE = "steps: 40 loss: 5.1 iter time (s): 2.0 samples/sec: 128.0\n"
NANOTRON = "iteration: 4 / 9 | tokens_per_sec_per_gpu: 100 |"
LITGPT = "iter 1 step 1 | iter time: 500.00 ms (step)\n"
LITGPT_MEMORY = "Memory used: 12.50 GB\n"


def steps(text):
    return list(complete_steps(read_training_log(text)))


@each(
    ("after", "held"),
    [
        (MEMORY, (300 * MiB, 400 * MiB)),
        (MEMORY.replace("memory (MB)", "memory"), (0, 0)),
        (MEMORY.replace("max allocated:", "max:"), (0, 0)),
        (MEMORY.replace("max reserved:", "max:"), (300 * MiB, 0)),
        (MEMORY + "memory (MB) of the host\n", (300 * MiB, 400 * MiB)),
        (MEMORY + "max allocated: 7.0 | max reserved: 8.0\n", (300 * MiB, 400 * MiB)),
    ],
)
def test_a_line_of_memory_after_a_step_of_megatron_has_both_its_marks(after, held):
    (step,) = steps(MEGATRON + after)
    assert (step.allocated, step.reserved) == held
    assert (step.number, step.time, step.batch) == (5, 0.25, 8)


def test_memory_belongs_to_the_step_before_it():
    first, second = steps(MEGATRON + MEMORY + MEGATRON.replace("iteration 5", "iteration 6"))
    assert (first.reserved, second.reserved) == (400 * MiB, 0)
    with pytest.raises(TextError, match="no step is recognized"):
        read_training_log(MEMORY + "Peak reserved: 4.00MiB\n" + LITGPT_MEMORY)


@each(
    "line",
    [
        MEGATRON.replace("elapsed time per iteration (ms):", "elapsed:"),
        TITAN.replace("tps:", "rate:"),
        TITAN.replace("step:", "number:"),
        SPEED.replace("CurrSamplesPerSec=", "rate="),
        PIPE.replace("iter time (s):", "time:"),
        PIPE.replace("samples/sec:", "rate:"),
        NANOTRON.replace("tokens_per_sec_per_gpu:", "rate:"),
        LITGPT.replace("iter time:", "time:"),
        LITGPT.replace(" step ", " number "),
        LITGPT.replace("(step)", ""),
    ],
)
def test_a_line_without_one_of_its_marks_is_no_whole_step(line):
    try:
        found = steps(line)
    except TextError:
        found = []
    assert found == []


def test_of_torchtitan_and_deepspeed_every_number_is_read():
    (step,) = steps(TITAN)
    assert (step.line, step.number, step.token_rate, step.reserved) == (1, 3, 500, 2 * GiB)
    assert (step.flops, step.mfu) == (2.5e12, 0.5)
    (step,) = steps(SPEED)
    assert (step.number, step.sample_rate, step.allocated) == (7, 4.5, 2 * GiB)
    (step,) = steps(PIPE)
    assert (step.number, step.time, step.sample_rate) == (40, 2.0, 128.0)


@each(
    ("written", "rate"),
    [
        ("12", 12),
        ("1.5K", 1500),
        ("1.5 K", 1500),
        ("2M", 2e6),
        ("3G", 3e9),
        ("4B", 4e9),
        ("5T", 5e12),
        ("1,234,567", 1_234_567),
        ("2.5e+03", 2500),
        ("9.9e29", 9.9e29),
        ("0.5", 0.5),
    ],
)
def test_letters_multiply_and_commas_group(written, rate):
    (step,) = steps(f"iteration: 4 / 9 | tokens_per_sec_per_gpu: {written} |")
    assert step.token_rate == pytest.approx(rate, rel=1e-12)


@each("written", ["1e30", "1.5e30", "1e18T", "1e999"])
def test_a_number_of_thirty_digits_is_no_number_of_a_log(written):
    log = read_training_log(f"{NANOTRON}\niteration: 5 / 9 | tokens_per_sec_per_gpu: {written} |\n")
    assert (len(log.steps), log.unread) == (1, 1)


@each(
    ("milliseconds", "rate", "printed", "batch"),
    [
        # 0.1 s at a million tokens per second are 100,000 tokens.
        ("100.0", "1M", "100K", 0),
        ("100.0", "1M", "50.001K", 0),
        ("100.0", "1M", "50K", 50_000),
        ("100.0", "1M", "64", 64),
        ("10.0K", "1K", "10K", 0),
        ("10.0K", "1K", "4K", 4000),
        # Without a rate nothing says that the batch is in tokens; with a tiny one something does.
        ("100.0", "0", "64", 64),
        ("1000.0", "1.6", "1", 0),
    ],
)
def test_a_batch_of_nanotron_above_half_of_the_tokens_of_a_step_is_in_tokens(
    milliseconds, rate, printed, batch
):
    (step,) = steps(
        f"{NANOTRON} elapsed_time_per_iteration_ms: {milliseconds} | tokens_per_sec: {rate} | "
        f"global_batch_size: {printed} |"
    )
    assert step.batch == batch


@each("mark", ["Peak allocated:", "Peak allocated"])
def test_the_memory_of_nanotron_has_two_spellings(mark):
    memory = f"{mark} 100.00MiB. Peak reserved: 200.00MiB\n"
    (step,) = steps(NANOTRON + " cuda_max_memory_reserved: 5M |\n" + memory + "done\n")
    assert (step.allocated, step.reserved) == pytest.approx((100 * MiB, 200 * MiB))
    (step,) = steps(NANOTRON + " cuda_max_memory_reserved: 5M |\nPeak allocated: 1.00MiB\n")
    assert (step.allocated, step.reserved) == (0, 5e6)


def test_micro_batches_of_litgpt_are_added_up_to_their_step():
    part = "iter {0} step {1} | iter time: {2}.00 ms{3}\n"
    ended = " (step)"
    first = part.format(1, 0, 100, "") + part.format(2, 0, 200, "") + part.format(3, 1, 400, ended)
    second = part.format(4, 1, 10, "") + part.format(5, 2, 20, ended)
    found = steps(first + second + part.format(6, 2, 5, ""))
    assert [step.number for step in found] == [1, 2]
    assert [step.time for step in found] == pytest.approx([0.7, 0.03])
    assert [step.line for step in found] == [3, 5]


@each(("line", "held"), [(LITGPT_MEMORY, 12.5e9), ("- Memory Used   : 3.0 GB\n", 3e9)])
def test_the_memory_of_litgpt_has_two_spellings(line, held):
    (step,) = steps(LITGPT + line)
    assert step.allocated == held
    assert steps(LITGPT + "Memory: 12.50 GB\n")[0].allocated == 0


def test_the_step_with_number_0_is_a_whole_one():
    (step,) = steps(MEGATRON.replace("iteration 5/", "iteration 0/"))
    assert step.number == 0


def test_what_stands_behind_2000_characters_of_a_line_is_not_read():
    mark = "elapsed time per iteration (ms): 250.0"
    assert steps("iteration 5" + " " * (2000 - 11 - len(mark)) + mark)[0].time == 0.25
    with pytest.raises(TextError, match="no step"):
        read_training_log("iteration 5" + " " * 2000 + mark)


def test_a_log_may_have_two_million_characters():
    text = MEGATRON + "x" * (2_000_000 - len(MEGATRON))
    assert len(steps(text)) == 1
    with pytest.raises(TextError, match="line 1: 2,000,001 characters; allowed: at most 2,000,000"):
        read_training_log(text + "x")


def test_of_two_software_with_as_many_steps_the_first_known_is_taken():
    assert read_training_log(TITAN + MEGATRON).source == "Megatron-LM"
    assert read_training_log(TITAN + MEGATRON + TITAN).source == "torchtitan"
