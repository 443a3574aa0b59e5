"""The memory ledger's page: published sums, three tools in their order, verdicts."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.core.numbers import format_value

ledger, ladder = load("memory_ledger"), load("state_ladder")
BASE = ledger.inputs()


def solved(**changes):
    return ledger.solve(replace(BASE, **changes))


def test_the_states_of_an_8b_model_are_128_5_gigabytes():
    assert round(solved().states / 1e9, 1) == 128.5


def test_the_logits_of_one_sequence_are_4_2_gigabytes():
    assert round(solved().logits / 1e9, 1) == 4.2


def test_175_billion_parameters_need_35_gpus_for_their_states():
    """Of 84.9 GB, 80.7 GB may be filled: 2,800 over 80.7 is 34.7."""
    found = ladder.solve(replace(ladder.inputs(), parameters=175e9))
    assert (found.weights, found.replicated, found.gpus) == (350e9, 2.8e12, 35)


@pytest.mark.parametrize("trained", ["full", "lora", "qlora"])
@pytest.mark.parametrize("ranks", [1, 8])
def test_each_tool_shows_more_than_the_one_before(trained, ranks):
    found = solved(trained=trained, ranks=ranks)
    assert found.total < found.reserved < found.process


def test_an_8b_model_does_not_fit_on_one_gpu_for_its_states():
    assert ledger.compute(BASE)["fits"].text == "The states alone do not fit"


def test_sharded_over_eight_it_does_not_fit_for_its_activations_and_with_recomputation_it_fits():
    texts = [
        ledger.compute(replace(BASE, ranks=8, **more))["fits"].text
        for more in ({"sequence_length": 16_384}, {"recompute": "full"})
    ]
    assert texts == ["Does not fit", "Fits"]


def test_the_step_ends_with_adam_and_shows_two_micro_batches():
    spans = ledger.compute(BASE)["step"]
    spans = spans() if callable(spans) else spans
    names = [span.name for span in spans.spans]
    assert names == [
        "forward 1",
        "loss 1",
        "backward 1",
        "forward 2",
        "loss 2",
        "backward 2",
        "Adam",
    ]


def test_the_trap_is_told_by_its_elements():
    trap = load("adapter_trap")
    view = trap.compute(trap.inputs())["together"]
    assert format_value(view.value, view.quantity) == "1,451,376,640"
