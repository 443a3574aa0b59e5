"""Byte code without words, types and lines, made and run in this Python."""

import marshal
from importlib.util import MAGIC_NUMBER
from zlib import crc32

import pytest

from builder.runtime import strip_bytecode

SOURCE = '''"""Words."""
def area(side: float, /, *more: int, high: float = 2.0, **rest: str) -> float:
    """Return it."""
    product: float = side * high
    unset: int
    assert product > 0
    return product
'''


def run(data):
    scope = {"__name__": "tried"}
    exec(marshal.loads(data[16:]), scope)
    return scope


def test_byte_code_begins_as_what_nobody_compares_with_its_source():
    head = strip_bytecode.compile_source("x = 1", "a.py", 0)[:16]
    assert head == MAGIC_NUMBER + bytes([1, 0, 0, 0]) + bytes(8)


def test_bare_byte_code_has_no_words_types_or_checks():
    scope = run(strip_bytecode.compile_source(SOURCE, "a.py", 2, bare=True))
    area = scope["area"]
    assert (scope.get("__doc__"), area.__doc__, area.__annotations__) == (None, None, {})
    assert area(-3.0) == -6.0  # the assertion is gone
    assert area(3.0, 9, high=4.0) == 12.0
    assert area.__code__.co_linetable == b""


def test_what_others_wrote_keeps_its_words_types_and_lines():
    area = run(strip_bytecode.compile_source(SOURCE, "a.py", 0))["area"]
    assert area.__doc__ == "Return it."
    assert area.__annotations__["return"] is float
    assert area.__code__.co_linetable != b""
    with pytest.raises(AssertionError):
        area(-3.0)


def test_the_library_keeps_its_types_though_not_its_lines():
    area = run(strip_bytecode.compile_source(SOURCE, "a.py", 2))["area"]
    assert sorted(area.__annotations__) == ["high", "more", "rest", "return", "side"]
    assert area.__code__.co_linetable == b""


def test_types_are_taken_out_wherever_a_statement_holds_others():
    text = "if True:\n    for x in (1,):\n        try:\n            y: int = x\n        finally:\n"
    text += "            z: int = 2\n"
    scope = run(strip_bytecode.compile_source(text, "a.py", 2, bare=True))
    assert (scope["y"], scope["z"]) == (1, 2)
    assert scope.get("__annotations__", {}) == {}


def test_the_fields_of_a_class_keep_their_types_and_a_decorated_one_has_words():
    text = "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    text += "class B:\n    y: int = 1\n"
    scope = run(strip_bytecode.compile_source(text, "a.py", 2, bare=True))
    assert scope["A"].__annotations__ == {"x": int}
    assert scope["B"].__annotations__ == {"y": int}
    assert (scope["A"].__doc__, scope["B"].__doc__) == ("A", None)


def test_what_a_data_class_compiles_is_kept_by_its_checksum(monkeypatch):
    monkeypatch.setattr(strip_bytecode, "RECORDS", {})
    text, names = "def made(x: int) -> int:\n return x", {}
    strip_bytecode.recording_exec(text, {"__name__": "job.two"}, names)
    assert names["made"](4) == 4
    assert names["made"].__annotations__ == {}
    kept = marshal.loads(strip_bytecode.module_records("job/two.py"))
    assert list(kept) == [crc32(text.encode())]


def test_the_codes_of_a_module_stand_in_the_order_of_their_checksums(monkeypatch):
    codes = {9: compile("a", "", "eval"), 2: compile("b", "", "eval")}
    monkeypatch.setattr(strip_bytecode, "RECORDS", {"job": codes})
    assert list(marshal.loads(strip_bytecode.module_records("job/__init__.py"))) == [2, 9]


@pytest.mark.parametrize(
    ("path", "name"),
    [("engine/answer.py", "engine.answer"), ("engine/form/__init__.py", "engine.form")],
)
def test_a_path_names_its_module(path, name):
    assert strip_bytecode.module_name(path) == name


def test_no_code_within_code_knows_its_lines():
    outer = strip_bytecode.without_lines(
        compile("def f():\n    def g():\n        pass", "", "exec")
    )
    codes = [outer]
    while codes:
        code = codes.pop()
        assert code.co_linetable == b""
        codes += [one for one in code.co_consts if hasattr(one, "co_linetable")]


VARIABLES = """
def total(first, *others, factor=2, **named):
    longest = max([first, *others], key=lambda value: value * factor)
    def scaled(value):
        return value * factor + longest
    result = sum(scaled(other) for other in others)
    unused = {name: value for name, value in named.items()}
    return longest, result, unused
"""


def test_local_variables_have_short_names_and_parameters_keep_theirs():
    total = run(strip_bytecode.compile_source(VARIABLES, "a.py", 2, bare=True))["total"]
    assert total(1, 2, 3, factor=10, extra=4) == (3, (2 * 10 + 3) + (3 * 10 + 3), {"extra": 4})
    assert total.__code__.co_varnames[:4] == ("first", "factor", "others", "named")
    assert {name for name in total.__code__.co_varnames[4:] if len(name) > 1} == set()


def test_a_short_name_is_none_that_a_parameter_has():
    source = "def f(a, b):\n    both = a + b\n    twice = 2 * both\n    return twice\n"
    f = run(strip_bytecode.compile_source(source, "a.py", 2, bare=True))["f"]
    assert (f(a=1, b=2), f.__code__.co_varnames) == (6, ("a", "b", "c", "d"))
