"""The package `wallclock` is the engine under another name: its wheel, its imports, its page."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from builder.outputs.library_wheel import build_wheels
from builder.project.package_hook import renamed
from tests.each import each
from tests.layers import ROOT

ROOMS = ["catalog", "core", "calculators", "answer", "run"]


@each(
    ("text", "expected"),
    [
        ("from engine.core.units import Bytes", "from wallclock.core.units import Bytes"),
        ("import engine.answer", "import wallclock.answer"),
        ("from engine import answer", "from wallclock import answer"),
        ('module("engine.calculators", name)', 'module("wallclock.calculators", name)'),
        ('package() != "engine"', 'package() != "wallclock"'),
        ('"""As `engine.run.keys` says."""', '"""As `wallclock.run.keys` says."""'),
        ('"python -m engine plan"', '"wallclock plan"'),
        ("engine.coalesce()", "engine.coalesce()"),  # of DeepSpeed
        ("self.engine.core = 1", "self.engine.core = 1"),
    ],
)
def test_references_to_the_package_are_renamed(text, expected):
    assert renamed(text, ROOMS, "x.py") == expected


@each("text", ["import engine", "from engine.other import x", "import engine as e"])
def test_an_import_that_is_not_renamed_stops_the_build(text):
    with pytest.raises(ValueError, match=r"engine/x\.py imports engine"):
        renamed(text, ROOMS, "x.py")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for name, content in build_wheels(ROOT, ROOT / "builder"):
        (folder / name).write_bytes(content)
    return folder


def wheel(wheels, name):
    (path,) = wheels.glob(f"{name}-0*.whl")
    return path


def python(wheels, *arguments):
    """Run Python on the wheel as it is: a zip file on the path, and nothing of the repository."""
    variables = {**os.environ, "PYTHONPATH": str(wheel(wheels, "wallclock_training"))}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=wheels, env=variables
    )


def test_each_wheel_brings_one_package(wheels):
    for name, package in (
        ("wallclock_training", "wallclock"),
        ("wallclock_training_site", "wallclock_site"),
    ):
        with zipfile.ZipFile(wheel(wheels, name)) as archive:
            tops = {path.partition("/")[0] for path in archive.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {package}


def test_the_library_needs_nothing_but_a_reader_of_yaml(wheels):
    with zipfile.ZipFile(wheel(wheels, "wallclock_training")) as archive:
        (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
        assert "wallclock/py.typed" in archive.namelist()
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    assert [line for line in needed if "extra ==" not in line] == [
        "Requires-Dist: ruamel-yaml>=0.18"
    ]
    extras = {
        line.removeprefix("Provides-Extra: ") for line in text.splitlines() if "Provides-E" in line
    }
    assert extras == {"mcp", "notebook", "site", "sweep"}


@pytest.mark.left_to_all("each wheel is built, and runs")
def test_the_wheels_are_the_same_bytes_every_time(wheels):
    for name, content in build_wheels(ROOT, ROOT / "builder"):
        assert (wheels / name).read_bytes() == content


def test_no_module_of_the_package_imports_the_engine(wheels):
    with zipfile.ZipFile(wheel(wheels, "wallclock_training")) as archive:
        texts = {n: archive.read(n).decode() for n in archive.namelist() if n.endswith(".py")}
    wrong = [
        name for name, text in texts.items() if re.search(r"^\s*(from|import) engine\b", text, re.M)
    ]
    assert len(texts) > 900
    assert wrong == []


def test_the_version_is_the_projects(wheels):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert python(wheels, "-m", "wallclock", "--version").stdout == f"{version}\n"
    site = tomllib.loads((ROOT / "builder/pyproject.toml").read_text())["project"]["version"]
    assert site == version


def test_the_packages_own_page_runs(wheels):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "engine/README.md").read_text(), re.S)
    done = python(wheels, "-c", example)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("fits ")
    assert len(done.stdout.splitlines()) == 5


def test_every_command_of_the_packages_own_page_exists(wheels):
    text = (ROOT / "engine/README.md").read_text()
    verbs = set(re.findall(r"^wallclock (\w+)", text, re.MULTILINE))
    usage = python(wheels, "-m", "wallclock", "list").stdout
    assert verbs
    assert all(f"wallclock {verb} " in usage for verb in verbs)


def test_the_installed_command_calls_itself_by_its_name(wheels):
    done = python(wheels, "-m", "wallclock", "gradient_sinc")
    assert done.returncode == 2
    assert done.stderr == (
        "no command 'gradient_sinc'; did you mean 'gradient_sync'? 'wallclock list' shows all\n"
    )


def test_a_verb_of_the_generator_names_the_extra(wheels):
    done = python(wheels, "-m", "wallclock", "build")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'wallclock-training[site]'" in done.stderr


@pytest.mark.left_to_all("each wheel is built, and runs")
def test_a_type_checker_sees_the_records(wheels, tmp_path):
    with zipfile.ZipFile(wheel(wheels, "wallclock_training")) as archive:
        archive.extractall(tmp_path / "packages")
    script = tmp_path / "script.py"
    script.write_text(
        "import wallclock\nresult = wallclock.estimate({})\nreveal_type(result.memory.optimizer)\n"
        "result.step_tme\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir"]
    done = subprocess.run(
        [*command, str(tmp_path / "cache"), str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path / "packages")},
    )
    assert 'Revealed type is "float"' in done.stdout.replace("builtins.", "")
    assert '"Estimate" has no attribute "step_tme"; maybe "step_time"' in done.stdout
