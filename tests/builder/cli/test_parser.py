import pytest

from builder.cli import parser as command_line
from tests.each import each

VERBS = ("build", "check", "serve", "book", "new", "show", "cite", "test")


@pytest.fixture
def parsed():
    parser = command_line.make_parser("wallclock", {verb: f"runs {verb}" for verb in VERBS})
    return lambda *words: vars(parser.parse_args(words))


SITE = {"project": "", "program": "wallclock", "repository": "", "base_url": ""}


@each(
    ("words", "given"),
    [
        (["build"], {**SITE, "out": ""}),
        (["build", "--out", "x"], {**SITE, "out": "x"}),
        (["check"], {**SITE, "links": False, "online": False}),
        (["check", "--links"], {**SITE, "links": True, "online": False}),
        (["check", "--online"], {**SITE, "links": False, "online": True}),
        (["serve"], {"project": "", "program": "wallclock", "repository": "", "port": 8000}),
        (
            ["serve", "--port", "0"],
            {"project": "", "program": "wallclock", "repository": "", "port": 0},
        ),
        (["book", "B"], {**SITE, "path": "B", "pdf": "", "out": ""}),
        (
            ["book", "B", "--pdf", "b.pdf", "--out", "o"],
            {**SITE, "path": "B", "pdf": "b.pdf", "out": "o"},
        ),
        *(
            (
                ["new", kind, "x"],
                {"project": "", "program": "wallclock", "kind": kind, "name": "x"},
            )
            for kind in ("guide", "calculator", "words", "project")
        ),
        (["show", "transfer"], {"project": "", "program": "wallclock", "name": "transfer"}),
        (["cite", "a.bib"], {"project": "", "program": "wallclock", "source": "a.bib"}),
        (["test"], {"project": "", "program": "wallclock", "rest": []}),
        (
            ["test", "x", "--project", "d", "-k", "y"],
            {"project": "", "program": "wallclock", "rest": ["x", "--project", "d", "-k", "y"]},
        ),
    ],
)
def test_a_verb_gets_what_it_takes(parsed, words, given):
    assert parsed(*words) == {**given, "run": f"runs {words[0]}"}


@each("verb", ["build", "check", "serve", "book B", "new guide x", "show x", "cite x"])
def test_a_project_is_named_before_or_behind_a_verb(parsed, verb):
    words = verb.split()
    assert parsed("--project", "d", *words)["project"] == "d"
    assert parsed(*words, "--project", "d")["project"] == "d"
    assert parsed("--project", "c", *words, "--project", "d")["project"] == "d"


@each("option", ["--repository", "--base-url"])
@each(
    ("address", "kept"),
    [
        ("https://x.org", "https://x.org"),
        ("https://x.org/w//", "https://x.org/w"),
        ("", ""),
    ],
)
def test_an_address_has_no_slash_at_its_end(parsed, option, address, kept):
    assert parsed("build", option, address)[option[2:].replace("-", "_")] == kept


@each("option", ["--repository", "--base-url"])
@each("address", ["http://x.org", "x.org", "x https://x.org"])
def test_an_address_begins_with_https(parsed, option, address):
    with pytest.raises(SystemExit) as raised:
        parsed("check", option, address)
    assert raised.value.code == 2


def test_what_is_wrong_with_an_address_is_said(parsed, capsys):
    with pytest.raises(SystemExit):
        parsed("build", "--base-url", "http://x.org")
    said = capsys.readouterr().err
    assert "argument --base-url: 'http://x.org' has to begin with https://" in said


@each(
    "words",
    [
        [],
        ["nothing"],
        ["serve", "--base-url", "https://x.org"],
        ["serve", "--port", "x"],
        ["new"],
        ["new", "other", "x"],
        ["show"],
        ["cite"],
        ["book"],
    ],
)
def test_what_a_verb_does_not_take_is_wrong_usage(parsed, words):
    with pytest.raises(SystemExit) as raised:
        parsed(*words)
    assert raised.value.code == 2


def test_the_help_names_the_program_and_the_port(parsed, capsys):
    with pytest.raises(SystemExit):
        parsed("serve", "--help")
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("usage: wallclock serve")
    assert "default: 8000; 0: any" in said
