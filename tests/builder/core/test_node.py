"""Node's failures: one line says what went wrong."""

from types import SimpleNamespace

import pytest

from builder.core import node
from builder.core.node import _reason

ESBUILD = "> theme/a.js: ERROR: no such name"


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("npm error code E404\nnpm error more\nat the end", "code E404"),
        (f"npm error code E404\n{ESBUILD}", "code E404"),
        (f"begins\n  {ESBUILD}\nends", ESBUILD),
        ("Traceback\n  line\nValueError: 3\n\n", "ValueError: 3"),
        (b"Error: \xff\n", "Error: \ufffd"),
        ("  \n", "exit status 7"),
        ("x" * 501, "x" * 500),
    ],
)
def test_the_line_that_says_what_went_wrong_is_found(stderr, reason):
    assert _reason(SimpleNamespace(stderr=stderr, returncode=7)) == reason


SCRIPT = """import { text } from "node:stream/consumers";
const ahead = process.argv[2], given = await text(process.stdin);
if (ahead === "failing") process.exit(3);
process.stdout.write(JSON.stringify([ahead, given.length, process.pid]));
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "said.mjs"
    path.write_text(SCRIPT)
    yield path
    node.stop_prestarted()


def test_a_process_that_is_ready_answers_once(script):
    node.prestart_script(script, "library")
    (waiting,) = node._prestarted
    asked = []
    answered = waiting.send
    waiting.send = lambda request: asked.append(request) or answered(request)
    first, second = (node.run(script, {"large": "x" * 1_000_000}, "library") for _ in range(2))
    assert first[:2] == second[:2] == ["library", 1_000_013]
    assert len(asked) == 1
    assert first[2] != second[2]
    assert not node._prestarted


def test_what_was_made_ready_for_another_library_is_left_alone(script):
    node.prestart_script(script, "old")
    assert node.run(script, {}, "new")[0] == "new"
    node.prestart_script(script, "new")
    assert [one.arguments[-1] for one in node._prestarted] == ["new"]


def test_where_a_process_that_was_ready_has_failed_another_is_asked(script, monkeypatch):
    node.prestart_script(script, "library")
    monkeypatch.setattr(node._prestarted[0], "send", lambda request: None)
    assert node.run(script, {}, "library")[0] == "library"
    assert node.PrestartedProcess([str(script), "failing"], script.parent).send(b"{}") is None
