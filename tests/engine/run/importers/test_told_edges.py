"""A draft of a run file: what is taken, derived, assumed and told; numbers and words at limits."""

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import (
    ReportEntry,
    RunDraft,
    Setting,
    TextError,
    flatten,
    is_true,
    positive_number,
    shorten,
    whole_number,
)
from tests.each import each


def taken(*said):
    """Return a draft in which keys a, b ... of lines 1, 2 ... say (path, value)."""
    draft = RunDraft()
    for number, (path, value) in enumerate(said, 1):
        draft.set_value(Setting(key="abc"[number - 1], value=value, line=number), path, value)
    return draft


@each(
    "value, told",
    [
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("a  b\n c", "a b c"),
        (True, "true"),
        (False, "false"),
        # What stands behind 320 characters is not looked at.
        (" " * 319 + "ab", "a"),
    ],
)
def test_a_value_is_told_on_one_short_line(value, told):
    assert shorten(value) == told


LIMIT = 10**18


@each(
    "value, number",
    [
        (LIMIT - 1, LIMIT - 1),
        (LIMIT, None),
        (1 - LIMIT, 1 - LIMIT),
        (-LIMIT, None),
        (False, None),
        (2.0, 2),
        (0.5, None),
        (1e17, 10**17),
        (1e18, None),
        (-1e18, None),
        (1.5e18, None),
        (float("nan"), None),
        (" 12 ", 12),
        ("9" * 18, LIMIT - 1),
        ("-" + "9" * 18, 1 - LIMIT),
        ("9" * 19, None),
        ("", None),
        ("-", None),
        ("--1", None),
        ("²", None),
        ("٣", None),
        (None, None),
    ],
)
def test_a_whole_number_is_one_of_at_most_eighteen_digits(value, number):
    assert whole_number(value) == number
    assert type(whole_number(value)) is type(number)


@each("value, number", [(1, 1), ("2", 2), (0, None), (-1, None), ("x", None), (True, None)])
def test_a_positive_number_is_one_or_more(value, number):
    assert positive_number(value) == number


def test_what_means_yes_is_a_flag():
    assert all(is_true(one) is True for one in (True, "true", "True", "1", 1, " yes ", "ON"))
    assert all(
        is_true(one) is False for one in (False, "false", "0", 0, "no", "off", None, "", "2")
    )


def chain(depth):
    """Return an object so many objects deep, with one key in the innermost."""
    tree = {"k": 1}
    for _ in range(depth):
        tree = {"k": tree}
    return tree


def test_the_leaves_of_an_object_have_its_keys_joined_by_points():
    found = flatten({"a": {"b": 1, "c": {"d": [2]}}, "e": {}, "f": None})
    told = [(one.key, one.value, one.line) for one in found]
    assert told == [("a.b", 1, 0), ("a.c.d", [2], 0), ("e", {}, 0), ("f", None, 0)]


def test_an_object_is_opened_eight_times_and_no_deeper():
    (one,) = flatten(chain(8))
    assert (one.key, one.value) == (".".join("k" * 9), 1)
    (one,) = flatten(chain(9))
    assert (one.key, one.value) == (".".join("k" * 9), {"k": 1})


def test_a_leaf_has_the_line_of_its_path_or_else_of_its_name():
    tree = {"a": {"b": 1, "c": 2, "d": 3}}
    lines = {"a.b": 5, "b": 6, "c": 7}
    assert [one.line for one in flatten(tree, lines)] == [5, 7, 0]


def test_what_a_key_says_is_told_with_its_line():
    draft = taken(("model.num_layers", 4))
    assert (draft.values, draft.lines) == ({"model.num_layers": 4}, {"model.num_layers": 1})
    meaning = "model.num_layers = 4"
    assert draft.entries == [
        ReportEntry(key="a", value="4", line=1, kind="understood", meaning=meaning)
    ]


def test_two_keys_that_disagree_contradict_each_other_and_the_later_is_taken():
    draft = taken(("model.num_layers", 4), ("model.num_layers", 8))
    assert draft.values == {"model.num_layers": 8}
    assert draft.contradictions == [
        "line 2: b says 8, line 1 says 4 for model.num_layers; the later one is taken."
    ]
    assert taken(("model.num_layers", 4), ("model.num_layers", 4)).contradictions == []


def test_a_key_goes_before_what_no_line_said():
    draft = RunDraft(values={"model.num_layers": 4})
    draft.set_value(Setting(key="a", value=8, line=1), "model.num_layers", 8)
    assert (draft.values, draft.contradictions) == ({"model.num_layers": 8}, [])


PRECISION = "training.precision"


@each(
    "words, precision",
    [
        (("bf16",), "bf16"),
        (("bf16", "fp8"), "fp8"),
        (("fp8", "bf16"), "fp8"),
        (("bf16", "fp4", "bf16"), "fp4"),
    ],
)
def test_products_in_few_bits_are_named_beside_sixteen_bits(words, precision):
    draft = taken(*((PRECISION, word) for word in words))
    assert (draft.values[PRECISION], draft.contradictions) == (precision, [])


def test_two_precisions_of_few_bits_contradict_each_other():
    (said,) = taken((PRECISION, "fp8"), (PRECISION, "fp4")).contradictions
    assert said.startswith("line 2: b says fp4, line 1 says fp8 for training.precision")
    sums = "training.gradient_precision"
    assert len(taken((sums, "fp32"), (sums, "bf16")).contradictions) == 1


@each(
    "path, value, small",
    [
        ("parallelism.tensor_parallel", 0, True),
        ("parallelism.tensor_parallel", 1, False),
        ("parallelism.tensor_parallel", -1, True),
        ("parallelism.zero_stage", 0, False),
        ("parallelism.sequence_parallel", False, False),
        ("training.micro_batch_size", 0, True),
        ("training.global_batch_size", 0, True),
        ("sequence_length", 0, True),
        ("model.num_experts", 0, False),
    ],
)
def test_a_degree_is_one_or_more(path, value, small):
    draft = taken((path, value))
    said = [f"line 1: a is {value}; at least 1 is needed"] if small else []
    assert draft.contradictions == said
    assert (path in draft.values) is not small
    assert draft.entries[0].kind == ("not known" if small else "understood")


def test_what_is_derived_replaces_and_what_is_assumed_does_not():
    draft = RunDraft(values={"a": 1})
    draft.assume("a", 2, "why")
    assert (draft.values, draft.entries) == ({"a": 1}, [])
    draft.derive("a", 3, "why")
    draft.assume("b", 4, "because")
    told = [(one.key, one.value, one.line, one.kind, one.meaning) for one in draft.entries]
    assert told == [("a", "3", 0, "derived", "why"), ("b", "4", 0, "assumed", "because")]
    assert (draft.get("a"), draft.get("c"), draft.get("c", 0)) == (3, 1, 0)


def test_a_text_of_a_million_characters_is_read_and_one_more_is_refused():
    flags = "--num-layers 4 --hidden-size 8 "
    assert import_run(flags + " " * (1_000_000 - len(flags))).dialects == ("Megatron-LM arguments",)
    with pytest.raises(TextError, match=r"^line 1: 1000001 characters; allowed: at most 1000000$"):
        import_run(flags + " " * (1_000_001 - len(flags)))
