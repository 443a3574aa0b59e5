"""The calculators of inference: the points lie on their curves, and the race is the simulation."""

import pytest

from engine.calculator import load
from engine.core.text import render_text
from tests.each import each
from tests.engine.calculators.asked import solved, views

BYTES, STEPS, RACE = (load(name) for name in ("token_bytes", "prompt_steps", "token_race"))


@each(("model", "text"), [("llama-2-7b", "12,352"), ("llama-3-70b", "26,112")])
def test_one_token_has_the_derived_ratio_and_the_published_one_beside_it(model, text):
    found = views(BYTES, tokens=1, model=model)["ratio"]
    assert f"{found.value:,.0f}" == text
    assert "10,000" in render_text(found.receipt.published.text)


def test_other_numbers_of_tokens_have_no_published_ratio():
    assert views(BYTES, tokens=2)["ratio"].receipt.published is None


@each("ranks", [2, 8, 64])
def test_the_ratio_does_not_depend_on_the_gpus(ranks):
    assert solved(BYTES, ranks=ranks).ratio == solved(BYTES).ratio


@each("tokens", [1, 4096, 1 << 20])
def test_the_point_lies_on_the_line_of_activations(tokens):
    found = views(BYTES, tokens=tokens)
    line = found["bytes_curve"].series[1]
    assert found["tensor"].value == pytest.approx(line.y[0] * tokens)
    assert found["bytes_curve"].points[0].y == found["tensor"].value


@each(("tokens", "text"), [(1, "Fewer bytes: tensor"), (1 << 20, "Fewer bytes: gathered")])
def test_the_badge_names_the_fewer_bytes(tokens, text):
    assert views(BYTES, tokens=tokens)["regime"].text.startswith(text)


@each(("tokens", "ratio"), [(1, 6), (4, 1.5), (6, 1), (16, 0.375)])
def test_the_tiny_model_has_the_ratio_of_its_weights(tokens, ratio):
    found = solved(STEPS, tokens=tokens)
    assert found.ratio == ratio
    assert found.both_ways.off <= 1e-12


@each("batch", [1, 8, 64, 512])
def test_the_race_ends_with_the_tokens_of_both(batch):
    scene = views(RACE, batch=batch, prompt=512)["scene"]
    texts = {shape.key: shape.text for shape in scene.frames[-1].shapes}
    assert texts["zero.count"].startswith("16 tokens")
    assert texts["tensor.count"].startswith("16 tokens")


def test_the_bars_of_a_pass_are_its_time():
    found = views(RACE)
    bars = {b.key: sum(part.value for part in b.segments) for b in found["parts"].bars}
    assert bars["tensor1"] == pytest.approx(found["tensor_token"].value)
    assert bars["zero0"] == pytest.approx(found["zero_prompt"].value)


@each("batch", [2, 32])
def test_the_point_of_the_batch_is_the_value_shown(batch):
    found = views(RACE, batch=batch)
    curve = found["rates"].series[0]
    assert found["rates"].points[0].y == curve.y[curve.x.index(batch)]


def test_what_does_not_fit_says_so():
    assert views(RACE, model="llama-3-405b", ranks="2")["regime"].text == "Does not fit"


def test_many_prompts_are_for_gathered_weights():
    assert views(RACE, batch=64)["regime"].text.startswith("The prompt: gathered weights")


@each("case", [{}, {"model": "llama-3-8b", "batch": 512, "prompt": 32_768}])
def test_one_new_token_is_the_first_after_the_prompt(case):
    found, bars = solved(RACE, **case), views(RACE, **case)["parts"].bars
    assert found.tensor_token == pytest.approx(found.tensor.ends[1] - found.tensor.ends[0], 1e-9)
    assert found.zero_token == pytest.approx(found.zero.ends[1] - found.zero.ends[0], 1e-9)
    assert found.faster == pytest.approx(found.zero_token / found.tensor_token, 1e-9)
    computing = {bar.key: bar.segments[0].value for bar in bars}
    assert found.reading == computing["tensor1"]
