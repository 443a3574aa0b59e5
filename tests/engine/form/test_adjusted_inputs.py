"""A verdict first says what had to change of the inputs, and what was wrong with them."""

from dataclasses import replace

from engine.core.text import render_text, say
from engine.core.units import COUNT
from engine.core.views import Badge
from engine.form.adjusted_inputs import with_changes
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import change_sentences, nearest_inputs
from tests.each import each

BADGE = Badge(text="Fits", sentence=say("It needs {n}.", n=(7, COUNT)), color="memory")


def test_a_verdict_about_what_was_asked_for_stays():
    assert with_changes(BADGE, ()) is BADGE


def test_numbers_of_the_same_name_stay_apart():
    change = say("Computed with {n}.", n=(3, COUNT))
    assert render_text(with_changes(BADGE, (change,)).sentence) == "Computed with 3. It needs 7."


@each(
    "inputs, sentence",
    [
        ({"tensor_parallel": 3}, "2 for tensor parallel: 3 does not divide the attention heads."),
        ({"world_size": 4, "tensor_parallel": 8}, "4 for tensor parallel: 8 is more than there"),
        ({"virtual_pipeline": 4}, "1 for virtual stages per rank: 4 needs interleaved 1F1B."),
        ({"expert_parallel": 8}, "1 for expert parallel: 8 needs a model with experts."),
    ],
)
def test_a_size_that_cannot_be_says_why(inputs, sentence):
    asked = replace(
        Inputs(), **{"model": "llama-3-70b", "schedule": "1f1b", "virtual_pipeline": 1, **inputs}
    )
    assert any(
        sentence in render_text(one) for one in change_sentences(asked, nearest_inputs(asked))
    )
