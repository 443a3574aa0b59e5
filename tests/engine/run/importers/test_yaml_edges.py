"""The YAML that is read: scalars, lists, lines, comments, what is refused and where."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import ruamel.yaml

from engine.run.importers.import_report import TextError
from engine.run.importers.yaml_text import parse_scalar, read_yaml
from tests.each import each


def keys(text, first=1):
    return [(one.key, one.value, one.line) for one in read_yaml(text, first)]


@each(
    "word, value",
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("None", None),
        ("true", True),
        ("False", False),
        ("  x ", "x"),
        ("8", 8),
        ("-8", -8),
        ("1_024", 1024),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, 1e19),
        ("²", "²"),
        ("1e-5", 1e-5),
        ("-0.5", -0.5),
        ("1.5.2", "1.5.2"),
        ("e", "e"),
        ("1x", "1x"),
        ("nan", "nan"),
        ("0." + "0" * 37 + "1", 1e-38),
        ("0." + "0" * 38 + "1", "0." + "0" * 38 + "1"),
        ("a'", "a'"),
    ],
)
def test_a_scalar_is_what_it_looks_like(word, value):
    found = parse_scalar(word)
    assert (found, type(found)) == (value, type(value))


@each("many, kept", [(4096, 4096), (4097, 4096)])
def test_a_list_on_a_line_has_4096_items_at_most(many, kept):
    assert keys(f"a: [{','.join('1' * many)}]") == [("a", [1] * kept, 1)]


@each(
    "word, value",
    [
        ("'8'", "8"),
        ('"true"', "true"),
        ("''", ""),
        ("[]", []),
        ("[1, x, 'y', true]", [1, "x", "y", True]),
        ("{b: 1}", None),
        ("|\n  x\n  y\n", "x\ny\n"),
        (">\n  x\n  y\n", "x y\n"),
    ],
)
def test_a_value_in_quotes_is_text_and_a_list_on_a_line_is_one_value(word, value):
    found = {key: said for key, said, _ in keys(f"a: {word}")}
    assert found == ({"a.b": 1} if value is None else {"a": value})


def test_nested_keys_are_joined_and_have_their_lines():
    text = "---\na:\n  b:\n    c: 1\n  d: x # note\n\n# all\ne: {}\nf: { }\n...\n"
    assert keys(text, 10) == [
        ("a.b.c", 1, 13),
        ("a.d", "x", 14),
        ("e", "{}", 17),
        ("f", "{}", 18),
    ]


def test_keys_may_stand_in_quotes_and_hold_spaces():
    assert keys("'a b': 1\n\"c\": 2\nd e : 3") == [("a b", 1, 1), ("c", 2, 2), ("d e", 3, 3)]


def test_a_value_may_hold_what_a_comment_begins_with():
    assert keys("a: b#c\nd: '#'\n") == [("a", "b#c", 1), ("d", "#", 2)]
    assert keys("a: 'x # y' # z\nb: [\"1 # 2\", 3] # 4") == [
        ("a", "x # y", 1),
        ("b", ["1 # 2", 3], 2),
    ]
    assert keys("a: don't # it's") == [("a", "don't", 1)]
    assert keys('model: "x # y"\n') == [("model", "x # y", 1)]
    assert keys("a:   # holds b\n  b: 1") == [("a.b", 1, 2)]


def test_a_list_belongs_to_the_key_above_it():
    text = "a:\n  - x\n  - 2\n  -\nb:\n- true\nc: 1\n"
    assert keys(text) == [("a", ["x", 2, None], 2), ("b", [True], 6), ("c", 1, 7)]


def test_a_list_is_not_joined_to_a_value_or_to_another_list():
    assert keys("a:\n- 1\nb:\n- 2\na:\n- 3") == [("a", [1], 2), ("b", [2], 4), ("a", [3], 6)]
    assert keys("- 1\n- 2") == [("", [1, 2], 1)]


def nested(depth, step=1):
    lines = [" " * (step * at) + "k:" for at in range(depth)]
    return "\n".join([*lines, " " * (step * depth) + "k: 1"])


def test_keys_are_nested_twelve_deep_at_most():
    # Eleven keys hold the twelfth.
    assert keys(nested(11)) == [(".".join("k" * 12), 1, 12)]
    with pytest.raises(TextError, match=r"^line 13, column 13: nested too deeply$"):
        read_yaml(nested(12))


def test_entries_of_a_list_have_their_number():
    text = "a:\n- b: 1\n  c: 2\n- b: 3\n"
    assert keys(text) == [("a.0.b", 1, 2), ("a.0.c", 2, 3), ("a.1.b", 3, 4)]


def test_a_single_value_may_be_repeated_by_its_name():
    assert keys("a: &x 3\nb: *x") == [("a", 3, 1), ("b", 3, 2)]


def test_a_mapping_or_a_list_may_be_repeated_by_its_name():
    assert keys("a: &x {b: 1, c: {d: 2}}\ne: *x") == [
        ("a.b", 1, 1), ("a.c.d", 2, 1), ("e.b", 1, 2), ("e.c.d", 2, 2),
    ]  # fmt: skip
    assert keys("a: &x [1, 2]\nb: *x\nc: [3]") == [
        ("a", [1, 2], 1),
        ("b", [1, 2], 2),
        ("c", [3], 3),
    ]
    assert keys("a: &x {b: 1}\nc:\n- *x\n- {b: 2}") == [
        ("a.b", 1, 1),
        ("c.0.b", 1, 3),
        ("c.1.b", 2, 4),
    ]
    assert keys("a: &x {}\nb: *x") == [("a", "{}", 1)]


def test_a_merge_adds_the_keys_that_a_mapping_does_not_have():
    text = "a: &x\n  b: 1\n  c:\n    d: 2\ne:\n  <<: *x\n  f: 3\n  c:\n    g: 4\n"
    assert keys(text)[2:] == [("e.f", 3, 7), ("e.c.g", 4, 9), ("e.b", 1, 6)]
    several = "a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: [*x, *y]\n  f: 4\n"
    assert keys(several)[3:] == [("e.f", 4, 5), ("e.b", 1, 4), ("e.d", 3, 4)]
    twice = "a: &x {b: 1}\nc: &y\n  <<: *x\n  d: 2\ne:\n  <<: *y\n"
    assert keys(twice) == [
        ("a.b", 1, 1),
        ("c.d", 2, 4),
        ("c.b", 1, 3),
        ("e.d", 2, 6),
        ("e.b", 1, 6),
    ]
    assert keys("a: &x {b: 1}\n<<: *x\n") == [("a.b", 1, 1), ("b", 1, 2)]


def test_an_object_with_a_comma_at_its_end_is_yaml():
    assert keys('{"a": 1, # one\n "b": {"c": 2,},\n}') == [("a", 1, 1), ("b.c", 2, 2)]


LISTS = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
MAPPINGS = "m0: &m0 {x: 1, y: 2, z: 3}\n" + "".join(
    f"m{at}: &m{at} {{x: *m{at - 1}, y: *m{at - 1}, z: *m{at - 1}}}\n" for at in range(1, 20)
)


@each(
    "text, said",
    [
        ("\ta: 1", "line 1, column 1: found character '\\t' that cannot start any token"),
        ("a:\n  b: 1\n x", "line 3, column 2: expected <block end>"),
        ("x", "line 1, column 1: no 'key: value' here"),
        ("a: *x", "line 1, column 4: '*' repeats what has no anchor above it"),
        ("a: &x [1, *x]", "line 1, column 11: '*' repeats what has no anchor above it"),
        ("a: &x {b: *x}", "line 1, column 11: '*' repeats what has no anchor above it"),
        ("*x", "line 1, column 1: '*' repeats what has no anchor above it"),
        (LISTS, "line 2, column 8: '*' repeats a list within a list"),
        (MAPPINGS, "line 7, column 21: '*' repeats more than 2000 settings"),
        ("a: !!python/object/apply:os.system [ls]", "line 1, column 4: a tag ('!') is not read"),
        ("a: !x 1", "line 1, column 4: a tag ('!') is not read"),
        ("a: b: c", "line 1, column 5: mapping values are not allowed here"),
        ("a:\n  %x: 1", "line 2, column 3: found character '%' that cannot start any token"),
        ("{{a: 1}: 2}", "line 1, column 2: a key of several values"),
        ("a: " + "[" * 13, "line 1, column 15: nested too deeply"),
        ("a: 'x", "line 1, column 6: found unexpected end of stream"),
        ("x" * 200_001, "line 1: 200001 characters of YAML; at most 200000"),
        ("a: [" + "1," * 10_000 + "]", "line 1, column "),
    ],
)
def test_what_is_not_read_is_refused_with_its_place(text, said):
    with pytest.raises(TextError) as caught:
        read_yaml(text)
    assert str(caught.value).startswith(said)


def test_the_modules_that_travel_to_a_browser_are_enough(tmp_path):
    root = Path(__file__).parents[4]
    travels = tomllib.loads((root / "site.toml").read_text("utf-8"))["travels"]
    package = Path(ruamel.yaml.__file__).parent
    (tmp_path / "ruamel/yaml").mkdir(parents=True)
    for module in travels:
        file = f"{module.rpartition('.')[2]}.py"
        shutil.copy(package / file, tmp_path / "ruamel/yaml" / file)
    code = (
        "import sys, ruamel\n"
        f"ruamel.__path__ = [{str(tmp_path / 'ruamel')!r}]\n"
        "from engine.run.importers.yaml_text import read_yaml\n"
        "print(read_yaml('a: [1, {b: 2}]\\nc: &x 3\\nd: *x\\n')[-1].value)\n"
        "print(getattr(sys.modules['ruamel.yaml'], '__file__', None))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.stderr, done.stdout.split()) == ("", ["3", "None"])
