"""Installed with pip, the generator is a command; it builds a site three times, slowly."""

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from tests.builder.conftest import ROOT

LEFT_OUT = shutil.ignore_patterns(".*", "site", "node_modules", "__pycache__", "tests")


def done(command, **options):
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A fresh environment with the wheel; what it depends on is that of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    done([*wheel, str(source), str(source / "builder")])
    done([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")])
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    done([*pip, "--python", str(python), "install", "--no-deps", *map(str, folder.glob("*.whl"))])
    (packages,) = (folder / "venv").rglob("site-packages")
    (packages / "those-of-the-tests.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder, python.with_name("wallclock"), packages


@pytest.mark.left_to_all("test_package_hook.py runs the wheels, test_new_files.py builds a project")
def test_two_packages_are_installed_and_no_name_of_the_repository(installed):
    _, _, packages = installed
    names = {path.name for path in packages.iterdir() if path.is_dir()}
    assert {name for name in names if not name.endswith("-info")} == {"wallclock", "wallclock_site"}


@pytest.mark.left_to_all("test_package_hook.py runs the wheels, test_new_files.py builds a project")
def test_the_command_makes_builds_and_checks_a_project(installed):
    folder, command, packages = installed
    before = sorted(packages.rglob("*.*"))
    variables = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    variables |= dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"), str(folder / "caches"))

    def run(*words, where=folder):
        return done([str(command), *words], cwd=where, env=variables)

    said = run("new", "project", "orbits")
    assert f"see it: {command} serve --project orbits" in said
    project = folder / "orbits"
    assert "4 pages" in run("build", where=project)
    assert "nothing new" in run("build", "--project", "orbits")
    assert "built twice with the same bytes, no problems" in run("check", where=project)
    assert (
        "<title>A first guide · Orbits"
        in (project / "site/guides/first-guide/index.html").read_text()
    )
    assert (folder / "caches").is_dir()
    assert sorted(packages.rglob("*.*")) == before  # nothing was written to where it lies
