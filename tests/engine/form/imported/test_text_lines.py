"""The reader's text, line by line: the outcome that needs a look, in a word and a color."""

from engine.core.text import render_text
from engine.core.views import ColoredText
from engine.form.imported.run_text import parse_job_text
from engine.form.imported.text_lines import OUTCOMES, lines_table
from engine.form.imported.verdicts import left_out
from tests.each import each

GPT = "torchrun --nproc_per_node 8 pretrain_gpt.py \\\n --num-layers 4 --hidden-size 64 \\\n"
GPT += " --num-attention-heads 4 --vocab-size 128 --seq-length 64 --micro-batch-size 1"
GPT += " --global-batch-size 8"


def rows(text):
    table = lines_table(text, parse_job_text(text))
    return [(int(row[0]), row[2].text) for row in table.rows]


def caption(text):
    return render_text(lines_table(text, parse_job_text(text)).caption)


@each(
    "flags, word",
    [
        ("--swiglu", "read"),
        ("--recompute-granularity full", "read, works on others"),
        ("--log-interval 5", "without effect"),
        ("--rampup-batch-size 1 1 8", "not modeled"),
        ("--frobnicate 5", "not known here"),
        ("--swiglu --frobnicate 5", "not known here"),
        ("--swiglu --log-interval 5", "read"),
    ],
)
def test_a_line_has_the_outcome_that_most_needs_a_look(flags, word):
    assert rows(f"{GPT} \\\n {flags}")[-1] == (4, word)


def test_every_line_that_holds_anything_has_a_row():
    text = f"#!/bin/bash\n# a comment\n\nset -x\n{GPT}\n--- notes.txt ---\nhello\nthere\n"
    assert rows(text) == [
        (4, "no setting"),
        (5, "read, works on others"),
        (6, "read"),
        (7, "read"),
        (9, "not read"),
        (10, "not read"),
    ]


def test_one_sentence_says_what_the_answer_leaves_out():
    assert caption(GPT).endswith("Nothing that was read is left out.")
    text = f"{GPT} --rampup-batch-size 1 1 8"
    assert caption(text).endswith(left_out(parse_job_text(text)))
    assert left_out(parse_job_text(text)) == (
        "Left out or assumed: --rampup-batch-size (line 3): the batch grows step by step; the "
        "last one is shown."
    )


def test_a_long_text_is_cut_and_a_long_line_is_shortened():
    table = lines_table(text := GPT + "\nx" * 500, parse_job_text(text))
    assert len(table.rows) == 400
    wide = f"{GPT} --tokenizer-model {'y' * 200}"
    assert len(lines_table(wide, parse_job_text(wide)).rows[2][1]) == 120


def test_every_outcome_has_a_word_of_its_own():
    words = [word for word, _ in OUTCOMES.values()]
    assert len(set(words)) == len(words)
    assert ColoredText("read", "compute").text == "read"
