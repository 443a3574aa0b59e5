import random
import time
from dataclasses import fields

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.training import LONGEST_LOG, complete_steps, read_training_log
from tests.engine.run.logs.fuzz import SOURCES, mutated, tried
from tests.engine.run.logs.lines import LINES


@pytest.mark.parametrize("name", LINES)
def test_a_line_says_what_was_meant(name):
    source, text, meant = LINES[name]
    log = read_training_log(text)
    assert (log.source, log.unread) == (source, 0)
    steps = list(complete_steps(log))
    assert len(steps) == len(meant)
    for step, expected in zip(steps, meant, strict=True):
        assert {key: getattr(step, key) for key in expected} == pytest.approx(expected)
        # What the lines do not say, no step says.
        others = {one.name for one in fields(step)} - {"line", "number", *expected}
        assert {getattr(step, name) for name in others} <= {0}


def test_a_step_knows_its_line():
    text = "\n\n" + LINES["DeepSpeed"][1]
    assert read_training_log(text).steps[0].line == 3


def test_a_line_of_memory_without_a_step_says_nothing():
    with pytest.raises(TextError):
        read_training_log("[Rank 0] memory (MB) | max allocated: 1.0 | max reserved: 2.0")


def test_the_software_with_most_steps_is_taken():
    text = LINES["Megatron-DeepSpeed 2022"][1] + LINES["DeepSpeed"][1]
    assert read_training_log(text).source == "Megatron-LM"


def test_a_number_that_no_log_prints_is_an_unread_line():
    text = LINES["DeepSpeed"][1]
    log = read_training_log(text + text.replace("61.35304005128382", "9" * 40))
    assert (len(log.steps), log.unread) == (1, 1)


@pytest.mark.parametrize("text", ["", "hello", "loss: 2.0\n" * 50])
def test_a_text_without_steps_is_refused_with_what_is_read(text):
    with pytest.raises(TextError, match=r"line 1: no step is .* torchtitan, DeepSpeed"):
        read_training_log(text)


def test_a_log_that_is_too_long_is_refused_in_words():
    with pytest.raises(TextError, match="at most 2,000,000"):
        read_training_log("x" * (LONGEST_LOG + 1))


def test_the_longest_log_takes_less_than_two_seconds():
    line = LINES["torchtitan in colors"][1]
    start = time.process_time()
    read_training_log(line * (LONGEST_LOG // len(line)))
    assert time.process_time() - start < 2


@pytest.mark.parametrize("source", SOURCES)
def test_a_damaged_log_is_read_or_refused(source):
    chance = random.Random(f"damaged logs of {source}")
    kinds = {tried(mutated(chance, source)) for _ in range(2000)}
    assert kinds == {"read", "refused"}


def test_a_log_that_every_rank_prints_counts_each_step_once():
    line = "[titan] - INFO - step: {}  loss: 9.0  memory: {}GiB(12.5%)  tps: {}  mfu: 1.0%\n"
    ranks = [(1, 10, 100), (1, 11, 102), (2, 10, 6000), (1, 10, 104), (2, 12, 6000), (2, 10, 6030)]
    log = read_training_log("".join(line.format(*rank) for rank in ranks))
    assert (log.copies, len(log.steps)) == (3, 2)
    assert [step.token_rate for step in log.steps] == [102, 6000]
    assert [step.reserved for step in log.steps] == [11 * 2**30, 12 * 2**30]


def test_ranks_may_print_their_steps_out_of_order():
    line = "step: {}  tps: 100\n"
    log = read_training_log("".join(line.format(n) for n in (970, 980, 810, 820, 810, 970)))
    assert [step.number for step in log.steps] == [810, 820, 970, 980]


def test_steps_without_a_number_are_not_one_step():
    log = read_training_log("CurrSamplesPerSec=4.0,\nCurrSamplesPerSec=5.0,\n")
    assert (len(log.steps), log.copies) == (2, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "[rank0]: Training starts at step 1, with local batch size 1, global batch size 32, "
            "sequence length 8192, total steps 1000 (warmup 200)",
            (32, 8192, 0),
        ),
        ("  seq_length ...................................... 4096", (0, 4096, 0)),
        ("  world_size ...................................... 64", (0, 0, 64)),
        ("  train_batch_size ................ 32..........................updated", (32, 0, 0)),
        (
            "  Total train batch size (w. parallel, distributed & accumulation) = 1,024",
            (1024, 0, 0),
        ),
        (
            ':::MLLOG {"namespace": "", "key": "global_batch_size", "value": 8, "metadata": {}}',
            (8, 0, 0),
        ),
        ("| lm loss: 1.1E+01 | grad norm: 0.0 | actual seqlen:  2048 |", (0, 2048, 0)),
        (
            "[titan] - INFO - Building device mesh with parallelism: pp=2, dp_replicate=1, "
            "dp_shard=8, cp=1, tp=4, ep=8",
            (0, 0, 64),
        ),
        ("the global batch size is large ...", (0, 0, 0)),
    ],
)
def test_what_a_log_says_of_its_job(line, said):
    job = read_training_log(line + "\n" + LINES["torchtitan's wps"][1]).job
    assert (job.batch, job.sequence_length, job.gpus) == said


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\n{'loss': 2.1, 'epoch': 0.1}\n", r"line 2: .* \(losses without a speed\)"),
        (
            "step:10 - actor/pg_loss:0.1 - timing_s/step:51.2\n",
            r"line 1: .* \(reinforcement learning of verl\)",
        ),
        ("2020 | INFO | train_inner | epoch 001: loss=9, wps=57.3\n", r"\(fairseq\)"),
        ("1|51|Loss: 0.7:   3%|| 51/1617 [03:20<1:41:12,  3.88s/it]\n", r"\(torchtune\)"),
        (
            "Train step of epoch 0:  12%|#| 120/1000 [10:48<1:19:12,  5.40s/it, gpt_loss=1.02]\n",
            r"\(OpenRLHF, micro-batches\)",
        ),
        (
            "| epoch 001:   0%| | 50/11265 [02:25<9:05:31,  2.92s/it, loss=0.000, wps=0\n",
            r"\(fairseq\)",
        ),
        (
            "Training Epoch: 1/3, step 10/36 completed (loss: 0.52):  33%|#| 3/9 [03:17<06:31, "
            "65.28s/it]\n",
            r"\(another program's bar\)",
        ),
        ("Epoch 0:  10%|#| 20/200 [00:38<05:42,  1.90s/it, v_num=3]\n", "another program"),
        ("  10%|#| 20/200 [00:38<05:42,  1.90s/it, loss=3]\n", "another program"),
        ("epoch 1 loss 2.3\n", r"\(losses without a time\)"),
        (
            "Map: 100%|###| 10/10 [00:01<00:00, 9.10s/it]\n",
            r"line 1: no step is recognized \(another program's bar\); allowed",
        ),
    ],
)
def test_an_unknown_log_is_refused_with_what_was_seen(text, seen):
    with pytest.raises(TextError, match=seen):
        read_training_log(text)


def test_a_rate_of_mlperf_that_may_be_of_tokens_is_not_taken():
    text = LINES["MLPerf, sequences per second"][1].replace("3072", "1211105280")
    with pytest.raises(TextError, match="no step is recognized"):
        read_training_log(text)


@pytest.mark.parametrize(
    "line",
    [
        "[titan] - INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.18GiB memory",
        "GPU capacity: NVIDIA H100 80GB HBM3 (0) with 79.11GiB memory",
    ],
)
def test_a_log_names_its_gpu(line):
    job = read_training_log(line + "\n" + LINES["torchtitan's wps"][1]).job
    assert job.gpu == "NVIDIA H100 80GB HBM3"
