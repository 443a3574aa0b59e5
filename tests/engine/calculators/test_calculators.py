"""Every calculator in the folder, whatever it computes, keeps these promises."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import engine.answer
from engine.calculator import field_of, load, names
from engine.core.inputs import InputError, Number
from engine.core.parsing import plain
from engine.core.text import words
from engine.core.views import Advice, Challenge, Formula, Lines, Scene, Table, Value
from tests.engine.calculators.tried import (
    combinations,
    computed,
    default_views,
    for_a_while,
    replies,
    reply,
    spread,
    views_at,
)

REFERENCES = tomllib.loads(
    (Path(__file__).parents[3] / "content" / "references.toml").read_text(encoding="utf-8")
)
ALL = pytest.mark.parametrize("name", names())
WITH_PRESETS = pytest.mark.parametrize("name", [n for n in names() if load(n).presets])
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


@ALL
def test_a_calculator_asks_a_question(name):
    assert load(name).question.endswith("?")


@ALL
def test_every_input_has_a_default(name):
    assert list(load(name).defaults) == list(load(name).fields)


@ALL
def test_the_defaults_compute(name):
    assert default_views(name)


@ALL
def test_every_bound_and_every_option_alone_computes(name):
    calculator = load(name)
    small = {key: plain(value) for key, value in calculator.small.items()}
    for key, field in calculator.fields.items():
        for at, value in enumerate(spread(field)):
            asked = {"calculator": name, "values": {**small, key: plain(value)}}
            # Of a search, what follows from its answer is looked at for one option in eight.
            ends = small and at % 8
            answered = engine.answer.reply({**asked, "only": []}) if ends else reply(asked)
            assert answered["outputs"] is not None, f"{key} = {value}"


@ALL
def test_a_search_that_has_a_small_case_ends_at_every_bound_of_its_numbers(name):
    calculator = load(name)
    numbers = calculator.fields.items() if calculator.small else ()
    for key, field in numbers:
        for value in spread(field) if isinstance(field, Number) else ():
            asked = {"calculator": name, "values": {key: plain(value)}, "only": []}
            assert engine.answer.reply(asked)["outputs"] is not None, f"{key} = {value}"


@ALL
def test_any_combination_of_inputs_is_accepted(name):
    problems = [answered["problems"] for answered in replies(name)]
    errors = [i["error"] for answered in replies(name) for i in answered["inputs"].values()]
    assert not [*filter(None, problems + errors)]


@ALL
def test_any_combination_gives_finite_json(name):
    assert all(json.dumps(answered, allow_nan=False) for answered in replies(name))


@ALL
def test_the_outputs_are_the_same_whatever_the_inputs(name):
    kinds = {
        tuple((key, view["kind"]) for key, view in answered["outputs"].items())
        for answered in replies(name)
    }
    assert len(kinds) == 1


@ALL
def test_the_same_request_gives_the_same_bytes(name):
    values = {key: plain(value) for key, value in combinations(name)[0].items()}
    request = {"calculator": name, "values": values}
    once, again = (engine.answer.answer(json.dumps(request)) for _ in range(2))
    assert once == again


@ALL
def test_all_html_is_balanced(name):
    wrong = [unbalanced(text) for answered in replies(name) for text in fragments(answered)]
    assert not any(wrong)


@ALL
def test_no_number_is_written_as_a_programming_language_does(name):
    texts = [text for answered in replies(name) for text in fragments(answered)]
    texts += [
        view["text"] + view["note"]
        for answered in replies(name)
        for view in answered["outputs"].values()
        if view["kind"] == "value"
    ]
    assert not [text for text in texts if ">nan<" in text or ">inf<" in text or "None" in text]


@ALL
def test_every_number_has_a_receipt(name):
    expected = [key for key, view in default_views(name).items() if isinstance(view, Value)]
    assert all(list(a["extra"].get("receipts", {})) == expected for a in replies(name))


@ALL
def test_every_equation_of_a_receipt_is_declared(name):
    shown = {receipt.equation.name for receipt in receipts(name) if receipt.equation}
    shown |= {view.equation.name for view in of_kind(name, Formula)}
    assert shown <= {equation.name for equation in load(name).equations}


@ALL
def test_every_symbol_of_a_shown_equation_has_a_value(name):
    shown = [receipt for receipt in receipts(name) if receipt.equation]
    missing = [
        (view.equation.name, set(view.equation.symbols) - set(view.symbols))
        for view in [*shown, *of_kind(name, Formula)]
    ]
    assert not [pair for pair in missing if pair[1]]


@ALL
def test_a_receipt_links_symbols_to_inputs_that_exist(name):
    calculator = load(name)
    links = [*receipts(name), *of_kind(name, Formula)]
    named = {field for link in links for field in link.inputs.values()}
    assert named <= set(calculator.fields)


@ALL
def test_every_assumption_is_a_sentence(name):
    assumptions = {words(a) for receipt in receipts(name) for a in receipt.assumptions}
    assert not [text for text in assumptions if not text.endswith(".")]


@ALL
def test_every_source_is_in_the_bibliography(name):
    keys = set()
    for receipt in receipts(name):
        keys |= set(receipt.sources)
        keys |= set(receipt.equation.sources if receipt.equation else ())
        keys |= {receipt.published.source} if receipt.published else set()
    assert keys <= set(REFERENCES)


@ALL
def test_every_receipt_says_what_it_rests_on(name):
    bare = [r for r in receipts(name) if not (r.equation or r.assumptions or r.sources)]
    assert not bare


@WITH_PRESETS
def test_every_preset_computes(name):
    presets = load(name).presets
    assert all(views_at(name, change) for change in presets.values())


@WITH_PRESETS
def test_every_preset_is_within_the_ranges(name):
    calculator = load(name)
    for change in calculator.presets.values():
        for key, value in change.items():
            assert field_of(calculator, key).read(plain(value), typed=False) == value


@WITH_PRESETS
def test_every_preset_changes_something(name):
    calculator = load(name)
    changes = [
        {key: value for key, value in change.items() if calculator.defaults[key] != value}
        for change in calculator.presets.values()
    ]
    assert all(changes)


@ALL
def test_a_handle_lies_on_an_axis_over_the_range_of_its_input(name):
    fields = load(name).fields
    curves = [view for view in of_kind(name, Lines) if view.handle]
    ends = {(view.x.low, view.x.high, view.handle) for view in curves}
    assert all((fields[h].low, fields[h].high) == (low, high) for low, high, h in ends)


@ALL
def test_the_frames_of_a_scene_have_the_same_shapes(name):
    scenes = of_kind(name, Scene)
    shapes = [{tuple((s.key, s.tag) for s in f.shapes) for f in scene.frames} for scene in scenes]
    assert all(len(different) == 1 for different in shapes)


def seen(shape):
    """Whether it shows: letters, or a shape that is not hidden and has a width."""
    hidden = shape.attributes.get("opacity") == "0"
    bar = shape.tag != "rect" or float(shape.attributes.get("width", 1)) > 0
    return bar and not hidden and (shape.tag != "text" or bool(shape.text))


@ALL
def test_the_opening_frame_of_a_scene_is_not_its_emptiest(name):
    for scene in of_kind(name, Scene):
        shown = [sum(map(seen, frame.shapes)) for frame in scene.frames]
        assert shown[scene.opening] > min(shown) or min(shown) > 0.8 * max(shown)


@ALL
def test_the_shapes_of_a_scene_have_different_keys(name):
    keys = [[shape.key for shape in scene.frames[0].shapes] for scene in of_kind(name, Scene)]
    assert all(len(found) == len(set(found)) for found in keys)


@ALL
def test_the_solution_of_a_challenge_meets_every_condition(name):
    for key, view in default_views(name).items():
        if isinstance(view, Challenge):
            solved = views_at(name, view.solution)[key]
            assert all(condition.met for condition in solved.conditions)


@ALL
def test_the_start_of_a_challenge_is_not_its_solution(name):
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


@ALL
def test_every_remedy_keeps_its_promise(name):
    tried = zip(({}, *combinations(name)), computed(name), strict=False)
    found = for_a_while((promises(name, *one) for one in tried), 1.0, 5)
    kept = [pair for some in found for pair in some]
    promised = [after for after, _ in kept]
    assert [now for _, now in kept] == pytest.approx(promised, rel=1e-13)


@ALL
def test_every_remedy_helps(name):
    given = [view for view in of_kind(name, Advice) if not view.enabling]
    assert all(remedy.after < view.now for view in given for remedy in view.remedies)


@ALL
def test_the_most_effective_remedy_comes_first(name):
    effects = [[remedy.after for remedy in view.remedies] for view in of_kind(name, Advice)]
    assert all(found == sorted(found) for found in effects)


@ALL
def test_headings_of_tables_begin_with_a_capital(name):
    names_of_programs = ("busbw", "m × n")  # written small wherever they stand
    for table in of_kind(name, Table):
        for column in table.columns:
            small = column[:1].islower() and not column.startswith(names_of_programs)
            assert not small, f"{table.title}: {column}"
