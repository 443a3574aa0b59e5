"""Work is shared with other processes, and done here where they cannot."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from builder import pipeline
from builder.cli.new_project import make_project
from builder.core import process_pool
from builder.core.build_cache import BuildCache
from builder.core.progress import Options
from builder.project.activate_project import activate_project
from tests.builder.conftest import SERVICES, silent


def square(number: int) -> int:
    return number * number


def process(_: int) -> int:
    return os.getpid()


def refused(number: int) -> int:
    raise ValueError(f"no {number}")


def dies(number: int) -> int:
    if os.getpid() != HERE:
        os._exit(1)
    return -number


HERE = int(os.environ.setdefault("TEST_HANDS_PROCESS", str(os.getpid())))


@pytest.fixture
def others(tmp_path, monkeypatch):
    monkeypatch.setattr(process_pool, "_processor_count", lambda: 2)
    make_project(tmp_path / "site")
    found = process_pool.ProcessPool(
        partial(activate_project, tmp_path / "site", tmp_path / "site" / ".cache")
    )
    yield found
    found.close()


def test_little_work_is_done_here(others):
    assert others.map(process, range(3), serial_limit=3) == [os.getpid()] * 3


def test_what_is_made_stands_in_order_whoever_made_it(others):
    assert others.map(square, range(100), serial_limit=3) == [number**2 for number in range(100)]


def test_an_error_is_raised_here(others):
    with pytest.raises(ValueError, match="no "):
        others.map(refused, range(100), serial_limit=3)


def test_what_a_process_leaves_that_dies_is_made_here(others):
    assert others.map(dies, range(100), serial_limit=3) == [-number for number in range(100)]
    assert others.map(square, range(100), serial_limit=3) == [number**2 for number in range(100)]


def test_a_folder_that_is_no_project_makes_no_difference(monkeypatch, tmp_path):
    monkeypatch.setattr(process_pool, "_processor_count", lambda: 2)
    found = process_pool.ProcessPool(partial(activate_project, Path(tmp_path), tmp_path))
    assert found.map(square, range(100), serial_limit=3) == [number**2 for number in range(100)]
    found.close()


def test_a_site_is_the_same_by_one_process_and_by_two(tmp_path, monkeypatch):
    make_project(tmp_path / "site")
    guide = (tmp_path / "site/content/guides/first-guide.md").read_text("utf-8")
    for number in range(2, 70):
        text = guide.replace("order = 1", f"order = {number}").replace("1e6", f"{number}e6")
        text = text.replace('title = "', f'title = "{number}. ')
        (tmp_path / f"site/content/guides/guide-{number}.md").write_text(text, "utf-8")
    asked = []
    begun = process_pool.ProcessPool._get_executor
    monkeypatch.setattr(
        process_pool.ProcessPool, "_get_executor", lambda *given: asked.append(1) or begun(*given)
    )
    made = []
    for processes in (1, 2):
        monkeypatch.setattr(process_pool, "_processor_count", lambda count=processes: count)
        places = activate_project(tmp_path / "site")
        options = Options(drafts=True)
        services = replace(SERVICES, draw=drawn)
        built = pipeline.build(places, options, services, BuildCache(), silent)
        assert built.problems == ()
        made.append(built.output)
    assert asked
    assert made[0] == made[1]
    # Each as HTML and as Markdown, and its receipts.
    assert sum(name.startswith("guides/") for name in made[0]) == 3 * 69


def drawn(charts):
    return dict.fromkeys(charts, "<svg></svg>")


def test_threads_make_each_thing_in_its_place():
    assert process_pool.map_in_threads(square, range(100)) == [number**2 for number in range(100)]
    assert process_pool.map_in_threads(process, range(3)) == [os.getpid()] * 3
    with pytest.raises(ValueError, match="no 0"):
        process_pool.map_in_threads(refused, range(2))


def test_as_many_threads_as_this_process_may_use_or_the_machine_has(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 5}, raising=False)
    assert process_pool._processor_count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert process_pool._processor_count() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert process_pool._processor_count() == 1
