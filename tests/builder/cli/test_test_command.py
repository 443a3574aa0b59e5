import os
from dataclasses import replace

from builder.cli import test_command
from builder.cli.test_command import (
    Machine,
    find_chromium,
    find_or_install_chromium,
    parallel_arguments,
)

BARE = Machine(
    configured="",
    downloaded=lambda: "/downloaded",
    on_path=lambda name: None,
    exists=lambda path: False,
    run=lambda command: False,
    may_install=True,
)


def silent(_):
    pass


def recorded(machine, files, effects):
    """A machine on which commands make files appear, and the commands it ran."""
    ran = []

    def run(command):
        ran.append(command)
        made = {path for word, path in effects.items() if word in command}
        files.update(made)
        return bool(made)

    return replace(machine, run=run, exists=lambda path: path in files), ran


def test_tests_keep_byte_code_whatever_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    found = test_command._test_environment(tmp_path)
    assert "PYTHONDONTWRITEBYTECODE" not in found
    assert str(tmp_path) in found["PYTHONPATH"].split(os.pathsep)


def test_the_browser_that_the_environment_names_comes_first():
    machine = replace(BARE, configured="/mine", exists=lambda path: True)
    assert find_chromium(machine) == "/mine"


def test_playwrights_own_comes_before_the_systems():
    machine = replace(BARE, on_path=lambda name: f"/usr/bin/{name}", exists=lambda path: True)
    assert find_chromium(machine) == "/downloaded"


def test_the_systems_chromium_is_found_on_the_path():
    machine = replace(
        BARE,
        on_path=lambda name: "/usr/bin/chromium" if name == "chromium" else None,
        exists=lambda path: path == "/usr/bin/chromium",
    )
    assert find_chromium(machine) == "/usr/bin/chromium"


def test_nothing_is_installed_where_there_is_one():
    machine, ran = recorded(BARE, {"/downloaded"}, {})
    find_or_install_chromium(machine, silent)
    assert ran == []


def test_playwrights_is_downloaded_first():
    machine, ran = recorded(BARE, set(), {"playwright": "/downloaded"})
    assert (find_or_install_chromium(machine, silent), len(ran)) == ("/downloaded", 1)


def test_debians_is_installed_where_the_download_fails():
    there = replace(BARE, on_path=lambda name: "/usr/bin/chromium")
    machine, _ = recorded(there, set(), {"apt-get": "/usr/bin/chromium"})
    assert find_or_install_chromium(machine, silent) == "/usr/bin/chromium"


def test_the_package_lists_are_fetched_before_debians_is_installed():
    machine, ran = recorded(BARE, set(), {})
    find_or_install_chromium(machine, silent)
    assert [command[1] for command in ran[1:]] == ["update", "install", "install"]


def test_debians_that_draws_no_windows_is_tried_first_and_suffices():
    shell = "chromium-headless-shell"
    there = replace(BARE, on_path=lambda name: f"/usr/bin/{name}")
    machine, ran = recorded(there, set(), {shell: f"/usr/bin/{shell}"})
    assert find_or_install_chromium(machine, silent) == f"/usr/bin/{shell}"
    assert [command[-1] for command in ran[2:]] == [shell]


def test_nothing_of_the_system_is_touched_without_the_right_to():
    machine, ran = recorded(replace(BARE, may_install=False), set(), {})
    find_or_install_chromium(machine, silent)
    assert len(ran) == 1


def test_a_machine_without_any_way_gets_none():
    assert find_or_install_chromium(BARE, silent) == ""


def test_all_tests_are_shared_by_a_worker_for_each_core_within_reason():
    assert [parallel_arguments(cores, whole=True)[1] for cores in (1, 2, 4, 64)] == [
        "2",
        "2",
        "4",
        "6",
    ]


def test_articles_are_not_rendered_once_more_beside_the_site_that_is_made_of_them():
    assert "--ignore=tests/builder/test_articles.py" in parallel_arguments(2, whole=True)


def test_the_short_lane_is_what_runs_unasked_and_all_leaves_nothing_out():
    assert "--short" in parallel_arguments(2, whole=False)
    assert "--short" not in parallel_arguments(2, whole=True)
