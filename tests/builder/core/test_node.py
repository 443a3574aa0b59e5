"""Node's failures: one line says what went wrong."""

from types import SimpleNamespace

import pytest

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
