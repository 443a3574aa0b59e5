"""Files of the engine that cannot be read, or not in a reader's browser, are named."""

from dataclasses import replace

import pytest

from builder.calculators.engine_checks import problems
from builder.core import folders, module_imports
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.core.project import Project

ROOM = "tiny/calculators"


class Here:
    """Hands that make everything here, and tell of what, and from how many on others would."""

    def __init__(self):
        self.asked = []

    def map(self, function, items, *, serial_limit):
        self.asked.append((list(items), serial_limit))
        return [function(item) for item in items]


def foreign(path, line, name):
    message = (
        f"imports '{name}'; a reader's browser has the standard library and what 'packages' of "
        "site.toml names"
    )
    return Problem(f"{ROOM}/{path}", line, message)


@pytest.fixture
def site(tmp_path):
    made = folders.project_folders(Project(name="Tiny", engine="tiny"), tmp_path)

    def put(**texts):
        for name, text in texts.items():
            path = tmp_path / ROOM / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return replace(made, computed={})

    return put


def wrong(places):
    return problems(places, BuildCache(), Here())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "from __future__ import annotations\nimport json, xml.etree.ElementTree as etree\n",
        "import engine.core\nfrom engine.core import units\nimport tiny.other\n",
        "from . import numpy\nfrom .numpy import array\nfrom .. import torch\n",
        "x = 'import numpy'  # import numpy\n",
    ],
)
def test_the_standard_library_the_engine_and_the_project_itself_are_there(site, text):
    assert wrong(site(a=text)) == []


def test_a_foreign_import_is_named_with_its_line_and_whole_name(site):
    text = "import json, numpy.linalg, torch as t\n\ndef f():\n    from scipy.stats import norm\n"
    assert wrong(site(a=text)) == [
        foreign("a.py", 1, "numpy.linalg"),
        foreign("a.py", 1, "torch"),
        foreign("a.py", 4, "scipy.stats"),
    ]


@pytest.mark.parametrize("text", ["import jsonx", "import enginex", "import tiny_x", "import os2"])
def test_a_name_that_only_begins_like_one_that_is_there_is_foreign(site, text):
    assert wrong(site(a=text)) == [foreign("a.py", 1, text.split()[1])]


def test_a_package_that_travels_may_be_imported(site):
    places = site(a="import numpy.linalg\nimport torch\n")
    known = replace(places, groups={"numpy": {}})
    assert wrong(known) == [foreign("a.py", 2, "torch")]


def test_what_is_no_python_is_named_with_its_line(site):
    assert wrong(site(a="import json\nx = = 2\n")) == [
        Problem(f"{ROOM}/a.py", 2, "SyntaxError: invalid syntax")
    ]


def test_a_wrong_indent_is_named_as_python_calls_it(site):
    assert wrong(site(a="\n\n  x = 1\n")) == [
        Problem(f"{ROOM}/a.py", 3, "IndentationError: unexpected indent")
    ]


def test_what_cannot_be_read_is_named_first_and_the_others_in_their_order(site):
    places = site(c="\ufeffx = 1", b="import b", a="import a", d="import json", e="\na\x00")
    assert wrong(places) == [
        Problem(f"{ROOM}/c.py", 1, "begins with a byte-order mark; save it without"),
        Problem(f"{ROOM}/e.py", 2, "holds the control character U+0000"),
        foreign("a.py", 1, "a"),
        foreign("b.py", 1, "b"),
    ]


def test_other_files_are_not_read(site, tmp_path):
    places = site(a="import json")
    (tmp_path / ROOM / "notes.txt").write_text("import numpy")
    assert wrong(places) == []


def test_an_engine_that_is_not_there_has_no_problems(tmp_path):
    assert wrong(folders.project_folders(Project(name="Tiny", engine="tiny"), tmp_path)) == []


def test_all_files_are_read_together_by_others_where_there_are_more_than_a_few(site):
    hands = Here()
    problems(site(b="import b", a="import json"), BuildCache(), hands)
    assert hands.asked == [(["import json", "import b"], 64)]


def test_what_an_earlier_build_found_is_not_looked_for_again(site):
    memo, hands = BuildCache(), Here()
    before = problems(site(a="import b"), memo, hands)
    after = problems(site(), memo.for_next_build(), hands)
    assert after == before == [foreign("a.py", 1, "b")]
    assert len(hands.asked) == 1


def test_only_a_file_that_changed_is_read_again(site):
    memo, hands = BuildCache(), Here()
    problems(site(a="import b", c="import d"), memo, hands)
    found = problems(site(c="import json, e"), memo.for_next_build(), hands)
    assert found == [foreign("a.py", 1, "b"), foreign("c.py", 1, "e")]
    assert [things for things, _ in hands.asked] == [["import b", "import d"], ["import json, e"]]


def test_another_process_remembers_each_file_by_what_it_holds(site):
    memo, hands = BuildCache(), Here()
    problems(site(a="import b", c="import d"), memo, hands)
    again = BuildCache(memo.entries())
    assert len(problems(site(), again, hands)) == 2
    assert len(hands.asked) == 1


def test_another_package_that_travels_has_all_files_read_again(site):
    memo, hands = BuildCache(), Here()
    places = site(a="import b")
    problems(places, memo, hands)
    assert problems(replace(places, groups={"b": {}}), memo.for_next_build(), hands) == []
    assert len(hands.asked) == 2


def test_files_stay_as_they_are_while_a_project_is_entered(site):
    places, hands, memo = site(a="import b"), Here(), BuildCache()
    problems(places, memo, hands)
    site(a="import c, d")
    assert problems(places, memo.for_next_build(), hands) == [foreign("a.py", 1, "b")]


def test_what_is_known_of_a_file_is_kept_for_whoever_follows_its_imports(site, monkeypatch):
    monkeypatch.setattr(module_imports, "_FACTS", {})
    wrong(site(a="import b.c", d="import json"))
    known = {digest(("import b.c",)): ["b.c"], digest(("import json",)): ["json"]}
    assert {key: told[0] for key, told in module_imports._FACTS.items()} == known
