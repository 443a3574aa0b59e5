"""Every calculator in the folder, whatever it computes, keeps these promises."""

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

import engine.answer
from engine.calculator import field_of, load
from engine.core.inputs import InputError, Number
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.views import Advice, Challenge, Formula, Lines, Scene, Table, Value
from tests import lanes
from tests.engine.calculators.promises import promise
from tests.engine.calculators.tried import (
    SLOW,
    combinations,
    computed,
    default_views,
    replies,
    reply,
    sample,
    spread,
    tries,
    views_at,
)

PROJECT = Path(os.environ.get(lanes.PROJECT, Path(__file__).parents[3]))
TAG = re.compile("<(/?)([a-z][a-z0-9]*)")
VOID = {"br", "img", "input", "hr", "wbr"}


def of_kind(name, kind):
    return [view for views in computed(name) for view in views.values() if isinstance(view, kind)]


def receipts(name):
    return [view.receipt for view in of_kind(name, Value)]


def fragments(answered):
    """Every piece of HTML in a reply."""
    views = answered["outputs"].values()
    return [view["html"] for view in views if "html" in view] + [
        *answered["extra"].get("receipts", {}).values()
    ]


def unbalanced(fragment):
    """What is wrong with the nesting of a fragment: tags closed out of turn or never."""
    is_open, wrong = [], []
    for slash, tag in TAG.findall(fragment):
        if not slash:
            is_open += [tag] if tag not in VOID else []
        elif not is_open or is_open.pop() != tag:
            wrong.append(tag)
    return wrong + is_open


def test_an_unknown_calculator_is_named_with_those_there_are():
    with pytest.raises(LookupError, match=r"no calculator 'zeroo'; there are .*gradient_sync"):
        load("zeroo")


def test_an_unknown_input_is_named_with_those_there_are():
    with pytest.raises(InputError, match="rail_claim has no input 'gpus'; there are parameters"):
        field_of(load("rail_claim"), "gpus")


@promise
def a_calculator_asks_a_question(name):
    assert load(name).question.endswith("?")


@promise
def every_input_has_a_default(name):
    assert list(load(name).defaults) == list(load(name).fields)


@promise
def the_defaults_compute(name):
    assert default_views(name)


@promise
def every_bound_and_every_option_alone_computes(name):
    calculator = load(name)
    small = {key: exact_text(value) for key, value in calculator.small.items()}
    every = [(key, value) for key, field in calculator.fields.items() for value in spread(field)]
    for at, (key, value) in enumerate(sample(every, alone(name))):
        asked = {"calculator": name, "values": {**small, key: exact_text(value)}}
        # Of a search, what follows from its answer is looked at for one option in eight.
        ends = small and at % 8
        answered = engine.answer.reply({**asked, "only": []}) if ends else reply(asked)
        assert answered["outputs"] is not None, f"{key} = {value}"


def alone(name):
    """Return how many bounds and options are tried one at a time: all, but in the short lane."""
    if not lanes.in_short_lane():
        return sys.maxsize
    return 8 if name in SLOW else 24


@promise
def a_search_that_has_a_small_case_ends_at_every_bound_of_its_numbers(name):
    calculator = load(name)
    numbers = calculator.fields.items() if calculator.small else ()
    if lanes.in_short_lane():  # the searches that are small run there, the others with `--all`
        return
    for key, field in numbers:
        for value in spread(field) if isinstance(field, Number) else ():
            asked = {"calculator": name, "values": {key: exact_text(value)}, "only": []}
            assert engine.answer.reply(asked)["outputs"] is not None, f"{key} = {value}"


@promise
def any_combination_of_inputs_is_accepted(name):
    problems = [answered["problems"] for answered in replies(name)]
    errors = [i["error"] for answered in replies(name) for i in answered["inputs"].values()]
    assert not [*filter(None, problems + errors)]


@promise
def any_combination_gives_finite_json(name):
    assert all(json.dumps(answered, allow_nan=False) for answered in replies(name))


@promise
def the_outputs_are_the_same_whatever_the_inputs(name):
    kinds = {
        tuple((key, view["kind"]) for key, view in answered["outputs"].items())
        for answered in replies(name)
    }
    assert len(kinds) == 1


@promise
def the_same_request_gives_the_same_bytes(name):
    values = {key: exact_text(value) for key, value in combinations(name)[0].items()}
    request = {"calculator": name, "values": values}
    once, again = (engine.answer.answer(json.dumps(request)) for _ in range(2))
    assert once == again


@promise
def all_html_is_balanced(name):
    wrong = [unbalanced(text) for answered in replies(name) for text in fragments(answered)]
    assert not any(wrong)


@promise
def no_number_is_written_as_a_programming_language_does(name):
    texts = [text for answered in replies(name) for text in fragments(answered)]
    texts += [
        view["text"] + view["note"]
        for answered in replies(name)
        for view in answered["outputs"].values()
        if view["kind"] == "value"
    ]
    assert not [text for text in texts if ">nan<" in text or ">inf<" in text or "None" in text]


@promise
def every_number_has_a_receipt(name):
    expected = [key for key, view in default_views(name).items() if isinstance(view, Value)]
    assert all(list(a["extra"].get("receipts", {})) == expected for a in replies(name))


@promise
def every_equation_of_a_receipt_is_declared(name):
    shown = {receipt.equation.name for receipt in receipts(name) if receipt.equation}
    shown |= {view.equation.name for view in of_kind(name, Formula)}
    assert shown <= {equation.name for equation in load(name).equations}


@promise
def every_symbol_of_a_shown_equation_has_a_value(name):
    shown = [receipt for receipt in receipts(name) if receipt.equation]
    missing = [
        (view.equation.name, set(view.equation.symbols) - set(view.symbols))
        for view in [*shown, *of_kind(name, Formula)]
    ]
    assert not [pair for pair in missing if pair[1]]


@promise
def a_receipt_links_symbols_to_inputs_that_exist(name):
    calculator = load(name)
    links = [*receipts(name), *of_kind(name, Formula)]
    named = {field for link in links for field in link.inputs.values()}
    assert named <= set(calculator.fields)


@promise
def every_assumption_is_a_sentence(name):
    assumptions = {render_text(a) for receipt in receipts(name) for a in receipt.assumptions}
    assert not [text for text in assumptions if not text.endswith(".")]


@promise
def every_source_is_in_the_bibliography(name):
    keys = set()
    for receipt in receipts(name):
        keys |= set(receipt.sources)
        keys |= set(receipt.equation.sources if receipt.equation else ())
        keys |= {receipt.published.source} if receipt.published else set()
    bibliography = PROJECT / "content" / "references.toml"
    known = tomllib.loads(bibliography.read_text("utf-8")) if keys else {}
    assert keys <= set(known)


@promise
def every_receipt_says_what_it_rests_on(name):
    bare = [r for r in receipts(name) if not (r.equation or r.assumptions or r.sources)]
    assert not bare


@promise
def every_preset_computes(name):
    presets = load(name).presets
    assert all(views_at(name, change) for change in presets.values())


@promise
def every_preset_is_within_the_ranges(name):
    calculator = load(name)
    for change in calculator.presets.values():
        for key, value in change.items():
            assert field_of(calculator, key).read(exact_text(value), typed=False) == value


@promise
def every_preset_changes_something(name):
    calculator = load(name)
    changes = [
        {key: value for key, value in change.items() if calculator.defaults[key] != value}
        for change in calculator.presets.values()
    ]
    assert all(changes)


@promise
def a_handle_lies_on_an_axis_over_the_range_of_its_input(name):
    fields = load(name).fields
    curves = [view for view in of_kind(name, Lines) if view.handle]
    ends = {(view.x.low, view.x.high, view.handle) for view in curves}
    assert all((fields[h].low, fields[h].high) == (low, high) for low, high, h in ends)


@promise
def the_frames_of_a_scene_have_the_same_shapes(name):
    scenes = of_kind(name, Scene)
    shapes = [{tuple((s.key, s.tag) for s in f.shapes) for f in scene.frames} for scene in scenes]
    assert all(len(different) == 1 for different in shapes)


def seen(shape):
    """Whether it shows: letters, or a shape that is not hidden and has a width."""
    hidden = shape.attributes.get("opacity") == "0"
    bar = shape.tag != "rect" or float(shape.attributes.get("width", 1)) > 0
    return bar and not hidden and (shape.tag != "text" or bool(shape.text))


@promise
def the_opening_frame_of_a_scene_is_not_its_emptiest(name):
    for scene in of_kind(name, Scene):
        shown = [sum(map(seen, frame.shapes)) for frame in scene.frames]
        assert shown[scene.opening] > min(shown) or min(shown) > 0.8 * max(shown)


@promise
def the_shapes_of_a_scene_have_different_keys(name):
    keys = [[shape.key for shape in scene.frames[0].shapes] for scene in of_kind(name, Scene)]
    assert all(len(found) == len(set(found)) for found in keys)


@promise
def the_solution_of_a_challenge_meets_every_condition(name):
    for key, view in default_views(name).items():
        if isinstance(view, Challenge):
            solved = views_at(name, view.solution)[key]
            assert all(condition.met for condition in solved.conditions)


@promise
def the_start_of_a_challenge_is_not_its_solution(name):
    for key, view in default_views(name).items():
        if isinstance(view, Challenge):
            started = views_at(name, view.start)[key]
            assert not all(condition.met for condition in started.conditions)


def promises(name, values, views):
    """What each remedy promises, and what it gives."""
    return [
        (remedy.after, views_at(name, values | dict(remedy.change))[key].now)
        for key, view in views.items()
        if isinstance(view, Advice)
        for remedy in view.remedies
        if not {"tokens_per_gpu", "accumulation"} & set(remedy.change)
    ]


@promise
def every_remedy_keeps_its_promise(name):
    tried = zip(({}, *combinations(name)), computed(name), strict=False)
    kept = [pair for one in list(tried)[: tries(name) // 2] for pair in promises(name, *one)]
    promised = [after for after, _ in kept]
    assert [now for _, now in kept] == pytest.approx(promised, rel=1e-13)


@promise
def every_remedy_helps(name):
    given = [view for view in of_kind(name, Advice) if not view.enabling]
    assert all(remedy.after < view.now for view in given for remedy in view.remedies)


@promise
def the_most_effective_remedy_comes_first(name):
    effects = [[remedy.after for remedy in view.remedies] for view in of_kind(name, Advice)]
    assert all(found == sorted(found) for found in effects)


@promise
def headings_of_tables_begin_with_a_capital(name):
    names_of_programs = ("busbw", "m × n")  # written small wherever they stand
    for table in of_kind(name, Table):
        for column in table.columns:
            small = column[:1].islower() and not column.startswith(names_of_programs)
            assert not small, f"{table.title}: {column}"
