"""What the verbs `build` and `check` say and end with, with makers that make nothing."""

import concurrent.futures
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.cli import build_command, check_command, parser
from builder.core import build_cache
from builder.core.folders import GENERATOR
from builder.core.problem import Problem
from builder.core.progress import Options
from builder.outputs import output_folder
from tests.each import each

WRONG = (Problem("a.md", 3, "no title"), Problem("b.md", 1, "no summary"))


def given(**words):
    told = {"project": "", "out": "", "repository": "", "base_url": ""}
    return Namespace(**{**told, "links": False, "online": False, **words})


def places(address="", repository=""):
    project = SimpleNamespace(address=address, repository=repository)
    return SimpleNamespace(project=project, cache=Path("cache"), root=Path("root"))


def built(files=None, problems=()):
    return SimpleNamespace(output=files or {}, problems=problems)


@pytest.fixture
def site(monkeypatch):
    """What a build does, step by step."""
    made = SimpleNamespace(
        built=built({"index.html": b"", "a/index.html": b"", "404.html": b"", "x.js": b""}),
        ours=True,
        current=False,
        calls=[],
        clock=iter([10.0, 11.256]),
    )
    monkeypatch.setattr(parser, "open_project", lambda given, cache=None: places())
    monkeypatch.setattr(output_folder, "is_replaceable", lambda target: made.ours)
    monkeypatch.setattr(
        output_folder, "replace_output", lambda *words: made.calls.append(("swap", *words))
    )
    monkeypatch.setattr(build_command, "inputs_digest", lambda *words: "read")
    monkeypatch.setattr(build_command, "is_current", lambda *words: made.current)
    monkeypatch.setattr(
        build_command, "record_build", lambda *words: made.calls.append(("leave", *words))
    )
    monkeypatch.setattr(
        build_command, "build_with_cache", lambda *words: made.calls.append("once") or made.built
    )
    monkeypatch.setattr(build_command.time, "perf_counter", lambda: next(made.clock))
    return made


def test_a_line_is_said_with_its_end(capsys):
    parser.print_line("one")
    parser.print_line("")
    assert capsys.readouterr().out == "one\n\n"


@each(
    ("problems", "said"),
    [
        ((), ""),
        (WRONG[:1], "a.md:3: no title\n1 problem; nothing was written\n"),
        (WRONG, "a.md:3: no title\nb.md:1: no summary\n2 problems; nothing was written\n"),
    ],
)
def test_problems_are_told_one_a_line_and_counted(problems, said):
    heard = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "print_line", lambda text: heard.append(f"{text}\n"))
        assert parser.report_problems(problems) is bool(problems)
    assert "".join(heard) == said


def test_wrong_content_ends_with_one_and_wrong_usage_with_two():
    assert (parser.WRONG_CONTENT, parser.WRONG_USAGE) == (1, 2)


def test_the_folders_of_a_verb_are_those_named_or_the_usual_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parser.project_root(given()) == GENERATOR
    assert parser.project_root(given(project="p")) == tmp_path / "p"
    assert parser.target_folder(given()) == GENERATOR / "site"
    assert parser.target_folder(given(project="p")) == tmp_path / "p" / "site"
    assert parser.target_folder(given(project="p", out="o")) == tmp_path / "o"


@each(
    ("address", "named", "meant"),
    [
        ("", "", ""),
        ("https://a.org/", "", "https://a.org/"),
        ("https://a.org/", "https://b.org", "https://b.org/"),
        ("", "https://b.org/", "https://b.org/"),
    ],
)
def test_the_address_of_a_build_is_that_named_or_the_projects(address, named, meant):
    found = parser.build_options(given(base_url=named), places(address))
    assert found == Options(base_url=meant)


@each(("known", "named", "meant"), [("r", "", "r"), ("r", "s", "s"), ("", "", "")])
def test_the_repository_is_that_named_or_the_projects(known, named, meant):
    found = parser.build_options(given(repository=named), places(repository=known))
    assert found.repository == meant


def test_a_verb_without_an_address_takes_the_projects():
    words = Namespace(project="", repository="")
    assert parser.build_options(words, places("https://a.org/")).base_url == "https://a.org/"


def test_a_build_says_what_it_wrote(site, tmp_path, capsys):
    assert build_command.build(given(out=str(tmp_path / "o"))) == 0
    assert capsys.readouterr().out == "o/: 2 pages, 4 files, 1.26 s\n"
    assert site.calls == [
        "once",
        ("swap", tmp_path / "o", site.built.output),
        ("leave", Path("cache"), tmp_path / "o", "read"),
    ]


def test_a_build_of_nothing_new_writes_nothing(site, tmp_path, capsys):
    site.current = True
    assert build_command.build(given(out=str(tmp_path / "o"))) == 0
    assert capsys.readouterr().out == "o/: nothing new, 1.26 s\n"
    assert site.calls == []


def test_a_build_with_problems_writes_nothing(site, tmp_path, capsys):
    site.built = built({"index.html": b""}, WRONG[:1])
    assert build_command.build(given(out=str(tmp_path / "o"))) == 1
    assert capsys.readouterr().out == "a.md:3: no title\n1 problem; nothing was written\n"
    assert site.calls == ["once"]


def test_a_folder_of_somebody_else_is_left_alone(site, capsys):
    site.ours = False
    assert build_command.build(given(out="theirs")) == 2
    assert capsys.readouterr().out == (
        "--out theirs is no output of an earlier build; name a new or an empty folder\n"
    )
    assert site.calls == []


@each("made", [[], ["one"]])
def test_what_a_build_made_is_kept_where_there_is_something_new(made):
    saved, memory = [], SimpleNamespace(computed=made, save=lambda path: saved.append(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_cache, "cache_file", lambda places: "place")
        patch.setattr(build_cache, "load", lambda path: memory if path == "place" else None)
        patch.setattr(build_command, "build_with_services", lambda *words: words)
        assert build_command.build_with_cache("places", "options", "report") == (
            "places",
            "options",
            memory,
            "report",
        )
    assert saved == (["place"] if made else [])


@pytest.fixture
def twice(monkeypatch):
    """Two builds of a check: the first of nothing, the second in another process."""
    made = SimpleNamespace(first=built({"b": b"1", "a": b"2"}), second={"b": b"1", "a": b"2"})

    class Another:
        def __init__(self, count, context):
            assert count == 1

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def submit(self, make, words):
            return SimpleNamespace(result=lambda: make(words))

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Another)
    monkeypatch.setattr(parser, "open_project", lambda given, cache=None: places())
    monkeypatch.setattr(check_command, "build_with_services", lambda *words: made.first)
    monkeypatch.setattr(check_command, "build_with_cache", lambda *words: built(made.second))
    return made


def test_a_check_of_two_builds_that_agree_says_so(twice, capsys):
    assert check_command.check(given()) == 0
    assert capsys.readouterr().out == "2 files, built twice with the same bytes, no problems\n"


@each("second", [{"b": b"x", "a": b"y"}, {"c": b"", "d": b"", "a": b"2", "b": b"1"}])
def test_a_check_names_what_differs(second):
    heard = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_command, "print_line", heard.append)
        patch.setattr(concurrent.futures, "ProcessPoolExecutor", _Second)
        patch.setattr(parser, "open_project", lambda given, cache=None: places())
        patch.setattr(
            check_command, "build_with_services", lambda *words: built({"b": b"1", "a": b"2"})
        )
        patch.setattr(check_command, "build_with_cache", lambda *words: built(second))
        assert check_command.check(given()) == 1
    differing = "c, d" if "c" in second else "a, b"
    assert heard == [
        f"a build from nothing and one with what is in the cache differ in {differing}; "
        "delete cache if that is from others"
    ]


class _Second:
    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def submit(self, make, words):
        return SimpleNamespace(result=lambda: make(words))


def test_a_check_tells_problems_and_compares_nothing(twice, capsys):
    twice.first = built({}, WRONG)
    assert check_command.check(given()) == 1
    assert capsys.readouterr().out.endswith("\n2 problems; nothing was written\n")


@pytest.fixture
def outside(monkeypatch):
    from builder.cli import external_links

    made = SimpleNamespace(gone=[], unheard="", asked=[])
    monkeypatch.setattr(external_links, "external_urls", lambda output, own: [*output, *own])
    monkeypatch.setattr(
        external_links, "load_answers", lambda root: made.asked.append("kept") or {}
    )
    monkeypatch.setattr(external_links, "ask_all", lambda *words: made.asked.append("asked") or {})
    monkeypatch.setattr(external_links, "problems", lambda *words: made.gone)
    monkeypatch.setattr(external_links, "unanswered_message", lambda *words: made.unheard)
    return made


SAME = "2 files, built twice with the same bytes, no problems\n"


def test_links_are_looked_up_and_those_that_are_gone_told(twice, outside, capsys):
    outside.gone, outside.unheard = [WRONG[0]], "3 not heard of"
    assert check_command.check(given(links=True)) == 1
    assert outside.asked == ["kept"]
    assert capsys.readouterr().out == (
        f"{SAME}a.md:3: no title\n3 not heard of\n4 addresses of other sites, 1 of them gone\n"
    )


def test_links_are_asked_for_online(twice, outside, capsys):
    assert check_command.check(given(online=True)) == 0
    assert outside.asked == ["asked"]
    assert capsys.readouterr().out == (
        f"{SAME}asking 4 addresses ...\n4 addresses of other sites, 0 of them gone\n"
    )
