"""Every listing of the pages for authors does what its page says."""

import re
import shlex

import pytest
import yaml

from builder import pipeline
from builder.cli import commands, new_files, new_project, parser
from builder.core import build_cache
from builder.markdown import article_html
from builder.project import project_file
from builder.project.activate_project import activate_project
from tests.builder.conftest import ROOT, SERVICES, silent

PAGES = sorted((ROOT / "content" / "authors").glob("*.md"))
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VERB = re.compile(r"python3? build\.py ([^\n`]+)")
RUN = dict.fromkeys(commands.VERBS, lambda given: 0)


def listings(kind, page=None):
    pages = [page] if page else PAGES
    texts = (path.read_text("utf-8") for path in pages)
    return [text for one in texts for name, text in _FENCE.findall(one) if name == kind]


def named(slug):
    return next(path for path in PAGES if path.stem == slug)


def test_a_listing_is_of_a_kind_that_is_tested():
    kinds = {name for path in PAGES for name, _ in _FENCE.findall(path.read_text("utf-8"))}
    assert kinds == {"sh", "python", "toml", "yaml", "markdown"}


def test_every_command_is_one_that_there_is():
    texts = [path.read_text("utf-8") for path in PAGES]
    found = [line for text in texts for line in _VERB.findall(text)]
    assert len(found) > 8
    for line in found:
        words = shlex.split(line.partition("#")[0])
        assert parser.make_parser("build.py", RUN).parse_args(words).run(None) == 0


def test_every_site_file_is_a_project(tmp_path):
    texts = listings("toml")
    assert texts
    for text in texts:
        (tmp_path / "site.toml").write_text(text, "utf-8")
        package = re.search(r'engine = "(\w+)"', text)[1]
        (tmp_path / package / "calculators").mkdir(parents=True, exist_ok=True)
        (tmp_path / package / "calculators" / "__init__.py").touch()
        assert project_file.read_project(tmp_path).engine == package


def test_every_workflow_is_read_and_runs_verbs_that_there_are():
    for text in listings("yaml"):
        jobs = yaml.safe_load(text)
        assert "build.py build" in str(jobs)


def test_the_documented_workflow_pins_what_that_of_the_repository_pins():
    (text,) = (one for one in listings("yaml") if "actions/" in one)
    own = (ROOT / ".github/workflows/publish.yml").read_text("utf-8")
    used = re.compile(r"uses: (\S+ # v[\d.]+)$", re.MULTILINE)
    assert len(set(used.findall(text))) == text.count("uses:")
    assert set(used.findall(text)) <= set(used.findall(own))
    for line in re.findall(r"run: (.*)", text):
        assert "${{" not in line  # an address is no part of a command's text
    assert yaml.safe_load(text)["permissions"] == {}


@pytest.fixture
def written(tmp_path):
    """A project as the pages tell to write it."""
    root = tmp_path / "kettles"
    new_project.make_project(root)
    new_files.make_files(root, "calculator", "examples/kettle", "kettles")
    calculator, test, drawing = listings("python", named("write-a-calculator"))
    (root / "kettles/calculators/examples/kettle.py").write_text(calculator, "utf-8")
    place = test.partition("\n")[0].removeprefix("# ")
    assert (root / place).is_file()
    (root / place).write_text(test, "utf-8")
    new_files.make_files(root, "calculator", "examples/tank", "kettles")
    (root / "tests/kettles/calculators/examples/test_tank.py").unlink()
    place, _, text = drawing.partition("\n")
    (root / place.removeprefix("# ")).write_text(text, "utf-8")
    (guide,) = (one for one in listings("markdown", named("write-a-guide")) if one[:3] == "+++")
    (root / "content/guides/tea.md").write_text(guide, "utf-8")
    return root


def test_what_the_pages_tell_to_write_builds_and_passes(written):
    places = activate_project(written)
    done = pipeline.build(places, pipeline.Options(), SERVICES, build_cache.BuildCache(), silent)
    assert [str(one) for one in done.problems] == []
    page = done.output["guides/tea/index.html"].decode()
    for output in ("over_power", "amounts", "challenge"):
        assert f'data-output="{output}"' in page
    assert '-time">' in page  # a number, which leads to its receipt
    tank = done.output["tools/tank/index.html"].decode()
    drawing = tank[tank.index('data-output="drawing"') :]
    assert "data-player" not in drawing[: drawing.index(">")]  # one frame, nothing to play
    assert re.search(r'<path d="M10 90H230V210H10Z" fill="currentColor"[^>]* data-up', drawing)
    assert commands.main(["test", "--project", str(written), "-q", "-p", "no:cacheprovider"]) == 0


def test_an_example_stands_below_its_source(live):
    live.append("content/guides/second.md", "/// example\nIt takes [[speed.time]].\n///")
    page = live.page("guides/second/index.html")
    block = page[page.index('class="example"') :]
    assert block.index("[[speed.time]]") < block.index("#receipt-speed-time")


def test_what_is_wrong_in_an_example_is_told_on_its_line(live):
    line = live.append("content/guides/second.md", "/// example\nIt takes [[speed.tme]].\n///")
    (problem,) = live.problems()
    assert problem.startswith(f"content/guides/second.md:{line + 1}: ")


def test_a_block_in_an_example_has_one_slash_less():
    text = "//// example\n/// note | Mind\nThis.\n///\n////\n"
    found = article_html.expand_examples(text)
    assert found.count("/// note | Mind") == 2
    assert found.startswith("//// example\n`````markdown\n/// note")


def test_every_page_is_there():
    assert {path.stem for path in PAGES} == {
        "architecture", "contracts", "other-tools", "publish", "validation", "write-a-calculator",
        "write-a-guide", "your-own-site",
    }  # fmt: skip
