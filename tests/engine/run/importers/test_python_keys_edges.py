"""The settings of a Python configuration: calls, assignments, defaults, literals, refusals."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.importers.python_keys import configuration_functions, read_python
from tests.each import each


def keys(text, first=1):
    return [(one.key, one.value, one.line) for one in read_python(text, first)]


def test_keywords_of_nested_calls_are_joined():
    text = "x = Trainer.Config(\n    a=1,\n    b=Inner(c=2, d=Deeper(e='f')),\n)"
    assert keys(text, 10) == [("a", 1, 11), ("b.c", 2, 12), ("b.d.e", "f", 12)]


def test_a_call_that_is_returned_or_stands_alone_is_read():
    text = "def f():\n    other(x=1)\n    return Config(a=2)\nrun(b=3)"
    assert keys(text) == [("def", "f", 1), ("x", 1, 2), ("a", 2, 3), ("b", 3, 4)]
    assert keys("def f():\n    return 1\nx\n") == [("def", "f", 1)]


def test_a_call_within_an_expression_is_not_read():
    assert keys("x + f(a=1)\ny = [f(a=1)]") == []


def test_assignments_to_attributes_are_read_without_the_first_name():
    text = "cfg.model.seq_length = 4096\ncfg.a: int = 2\nb = 3\ncfg.c: int\ncfg.d = cfg.e = 5"
    assert keys(text) == [
        ("model.seq_length", 4096, 1),
        ("a", 2, 2),
        ("d", 5, 5),
        ("e", 5, 5),
    ]
    assert keys("\ncfg.a = 1", 7) == [("a", 1, 8)]
    assert [one.line for one in read_python("\ncfg.a = 1")] == [2]
    assert keys("cfg[0].a = 1\n(x, y) = 1, 2") == []


def test_a_call_that_is_assigned_to_an_attribute_has_its_path():
    assert keys("cfg.model = Model(a=1)\ncfg.x.y = Z(b=2)") == [("model.a", 1, 1), ("x.y.b", 2, 2)]
    assert keys("model: M = Model(a=1)") == [("a", 1, 1)]


@each(
    "text, found",
    [
        ("c = C(a=F(8))", [("a", 8, 1)]),
        ("c = C(a=F(8, 9))", [("a", "F", 1)]),
        ("c = C(a=F(8, b=1))", [("a", 8, 1), ("a.b", 1, 1)]),
        ("c = C(a=F(8, 9, b=1))", [("a.b", 1, 1)]),
        ("c = C(a=mod.F())", [("a", "mod.F", 1)]),
        ("c = C(a=F(name))", [("a", "F", 1)]),
        ("c = C(a=SelectiveAC.Config(b=1))", [("a", "SelectiveAC.Config", 1), ("a.b", 1, 1)]),
        ("c = C(a=F(G(b=1)))", [("a", "F", 1), ("a.b", 1, 1)]),
        ("c = C(degree=F(8), kind=G())", [("degree", 8, 1), ("kind", "G", 1)]),
        ("c = C(a=F()(b=1))", [("a.b", 1, 1)]),
        ("c = C(8)", []),
        ("c = C()", []),
        ("c = C(**others, a=1)", [("a", 1, 1)]),
    ],
)
def test_what_a_call_holds_is_told(text, found):
    assert keys(text) == found


def test_a_call_has_the_line_on_which_it_begins():
    assert keys("c = C(\n    a=F(\n        8,\n    ),\n    b=G(),\n)", 5) == [
        ("a", 8, 6),
        ("b", "G", 9),
    ]


def test_a_call_that_is_handed_on_by_name_is_read_there():
    text = "other = Other(z=1)\ninner = Inner(a=1)\nc = C(b=inner, d=unknown)"
    assert sorted(keys(text)) == [("b.a", 1, 2), ("d", "unknown", 3), ("z", 1, 1)]


def test_two_calls_that_hand_on_each_other_come_to_an_end():
    assert keys("a = A(b=b)\nb = B(c=a)\nx = X(b=b)") == [("b.c.b", "b", 1)]


def test_defaults_of_a_recipe_are_read():
    text = "def recipe(name, tp: int = 4, *, pp=2, cp, **others):\n    pass"
    assert keys(text, 3) == [("def", "recipe", 3), ("tp", 4, 3), ("pp", 2, 3)]
    lines = "def recipe(\n    name,\n    tp=4,\n    *,\n    pp=2,\n):\n    pass"
    assert keys(lines, 3) == [("def", "recipe", 3), ("tp", 4, 5), ("pp", 2, 7)]


@each(
    "text, value",
    [
        ("True", True),
        ("None", None),
        ("'x'", "x"),
        ("-8", -8),
        ("-1.5", -1.5),
        ("-x", "x"),
        ("+8", "an expression"),
        ("not x", "an expression"),
        ("[1, 'a']", [1, "a"]),
        ("(1, -2)", [1, -2]),
        ("2 * 3 * 4", 24),
        ("8 * 1.5", "an expression"),
        ("1.5 * 8", "an expression"),
        ("2 + 3", "an expression"),
        ("999_999_999 * 2", 1_999_999_998),
        ("2 * 999_999_999", 1_999_999_998),
        ("1_000_000_000 * 2", "an expression"),
        ("a.b.c", "a.b.c"),
        ("a", "a"),
        ("a[0]", "an expression"),
        ("[f(1)]", ["f"]),
        ("[f()()]", ["an expression"]),
        ("'a' 'b'", "ab"),
    ],
)
def test_a_value_is_a_literal_or_its_name(text, value):
    ((key, found, _),) = keys(f"cfg.a = {text}")
    assert (key, found, type(found)) == ("a", value, type(value))


@each("many, kept", [(4096, 4096), (4097, 4096)])
def test_a_list_has_4096_items_at_most(many, kept):
    ((_, found, _),) = keys(f"cfg.a = [{','.join('1' * many)}]")
    assert found == [1] * kept


def test_keys_are_told_in_the_order_of_their_lines():
    text = "def f():\n    cfg.a = 1\ncfg.b = 2"
    assert [line for *_, line in keys(text)] == [1, 2, 3]


def refused(text, first=1):
    with pytest.raises(TextError) as caught:
        read_python(text, first)
    return str(caught.value)


TOO_MUCH = "line 3: too long or too deeply nested to be read as Python"


@each("opened, closed", [("(", ")"), ("[", "]"), ("(1,{2:[", "]},)")])
def test_sixty_brackets_are_read_and_one_more_is_refused(opened, closed):
    many = 60 // sum(one in "([{" for one in opened)
    assert len(keys(f"cfg.a = {opened * many}{closed * many}")) == 1
    assert refused(f"x = [{opened * many}{closed * many}]", 3) == TOO_MUCH


def test_brackets_beside_each_other_are_not_deep():
    assert len(keys(f"cfg.a = [{'[],' * 100}]")) == 1
    assert refused(f"x = [{'[],' * 40}{'[' * 60}{']' * 60}]", 3) == TOO_MUCH


def test_a_text_of_200000_characters_is_read_and_one_more_is_refused():
    text = "cfg.a = 1\n#"
    assert keys(text.ljust(200_000, "x")) == [("a", 1, 1)]
    assert refused(text.ljust(200_001, "x"), 3) == TOO_MUCH


def test_a_hundred_signs_are_refused():
    assert keys(f"cfg.a = {'-' * 98}1") == [("a", 1, 1)]
    assert refused(f"cfg.a = {'~' * 100}1", 3) == TOO_MUCH


def test_damaged_python_is_refused_with_line_and_column():
    assert refused("a = 1\nb = )", 3) == "line 4, column 5: unmatched ')'"


def test_functions_that_may_hold_a_configuration_are_named():
    text = "import x\ndef a(): pass\nclass B:\n    def c(self): pass\ndef _d(): pass\ndef e(): pass"
    assert configuration_functions(text) == [("a", 2), ("e", 6)]
    assert configuration_functions("def a(:") == []
