"""Packages in the browser: pure and compiled ones from the registry, one from a folder; slow."""

import gzip
import json
import os
import re
import sys
import zipfile

import pytest

from builder.cli import commands, new_project
from builder.project import activate_project, project_file, python_packages
from builder.runtime import bundle
from builder.runtime.archive_format import unpack
from tests.builder.conftest import ROOT

PURE, COMPILED = "iniconfig", "css-inline"


@pytest.fixture
def project(tmp_path):
    """Make a project with packages that its calculator imports; return its folder."""

    def made(named, imports, wheels=""):
        root = tmp_path / "mail"
        new_project.make_project(root)
        site = root / "site.toml"
        lines = f"packages = {json.dumps(named)}\n" + (f'wheels = "{wheels}"\n' if wheels else "")
        site.write_text(site.read_text().replace('language = "en"\n', f'language = "en"\n{lines}'))
        file = root / "mail/calculators/examples/duration.py"
        text = file.read_text().replace("from functools", f"{imports}\nfrom functools", 1)
        file.write_text(text)
        return root

    return made


def wheel(folder, name, tag="py3-none-any", text="WORD = 'from a folder'\n"):
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as opened:
        opened.writestr(f"{name}/__init__.py", text)
        opened.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\n")
        opened.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        opened.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return folder


def archive(places, cache):
    made = bundle.build_runtime(places.engine, cache, places.framework, places.groups)
    return unpack(gzip.decompress(made.files[made.calculators["duration"]]))


def test_a_pure_a_compiled_and_a_folders_package_travel_with_the_calculator(project, tmp_path):
    wheel(tmp_path / "wheels", "own_words")
    imports = (
        "import css_inline\nimport iniconfig\nfrom own_words import WORD\n"
        "INLINED = css_inline.inline('<style>p{color:red}</style><p>x</p>')\n"
        "assert 'style=\"color: red' in INLINED and WORD\n"
    )
    root = project([PURE, COMPILED, "own-words==1.0"], imports, "../wheels")
    places = activate_project.activate_project(root)
    assert sorted(places.groups) == ["css_inline", "iniconfig", "own_words"]
    held = archive(places, tmp_path / "cache")  # tried in Pyodide, where it has to answer
    assert {"css_inline/css_inline.abi3.so", "iniconfig/__init__.pyc"} <= set(held)
    assert "own_words/__init__.pyc" in held
    lock = json.loads((root / python_packages.LOCK).read_text())
    assert lock["info"]["arch"] == "wasm32"
    one = lock["packages"][COMPILED]
    assert re.fullmatch(
        r"css_inline-[\d.]+-cp310-abi3-pyemscripten_\d+_0_wasm32\.whl", one["file_name"]
    )
    assert (len(one["sha256"]), one["imports"]) == (64, ["css_inline"])


def test_another_file_than_the_recorded_one_is_refused(project, tmp_path):
    wheel(tmp_path / "wheels", "own_words")
    root = project(["own-words==1.0"], "import own_words", "../wheels")
    activate_project.activate_project(root)
    (root / ".cache").rename(tmp_path / "away")
    wheel(tmp_path / "wheels", "own_words", text="WORD = 'another'\n")
    with pytest.raises(project_file.ProjectError, match=r"site\.toml:6: own_words-1\.0-.* is not"):
        activate_project.activate_project(root)


def test_what_cannot_be_had_is_said_with_what_to_do(project, capsys):
    root = project(["no-such-package-anywhere-1"], "")
    assert commands.main(["--project", str(root), "build"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(
        "site.toml:6: there is no wheel of 'no-such-package-anywhere-1' for Pyodide, neither pure "
        "nor PyEmscripten; name a folder that holds one as 'wheels', such as a full distribution"
    )


def test_what_has_no_wheel_is_built_from_source_where_that_is_installed(tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in (python_packages.BUILDER, python_packages.COMPILER):
        made = 'touch "$4/made-1.0-py3-none-any.whl"' if name == python_packages.BUILDER else ":"
        (tools / name).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked-{name}\n{made}\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(
        python_packages, "_download_wheel", lambda *_: "No matching distribution found"
    )
    found = python_packages.find_wheel("made==1.0", tmp_path / "kept", None, ["--platform=x"])
    assert found.name == "made-1.0-py3-none-any.whl"
    asked = (tmp_path / "asked-pyodide").read_text().split()
    assert asked[:3] == ["build", "made==1.0", "--outdir"]
    (tools / python_packages.BUILDER).write_text("#!/bin/sh\necho 'no such header' >&2\nexit 3\n")
    with pytest.raises(python_packages.WheelError, match="could not build 'other': no such header"):
        python_packages.find_wheel("other", tmp_path / "kept", None, ["--platform=x"])


def test_a_registry_that_does_not_answer_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name, value in {"INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    for name in ("EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    with pytest.raises(python_packages.WheelError, match="no registry answers, and no folder has"):
        python_packages.find_wheel("made", tmp_path, None, ["--platform=x"])


def test_a_package_that_no_key_names_is_a_problem(project, capsys):
    root = project([], "import iniconfig")
    assert commands.main(["--project", str(root), "build"]) == 1
    assert "imports 'iniconfig'; a reader's browser has the standard library and what" in (
        capsys.readouterr().out
    )


def test_this_site_needs_one_and_few_of_its_modules():
    project = project_file.read_project(ROOT)
    assert project.packages == ("ruamel.yaml==0.19.1",)
    assert all(module.startswith("ruamel.yaml.") for module in project.travels)


def test_of_a_package_the_named_modules_travel_and_another_whole():
    groups = {"a": {"a/__init__.py": b"1", "a/b.py": b"2", "a/c.py": b"3"}, "d": {"d.py": b"4"}}
    assert python_packages.travelling(groups, ["a.b"]) == {
        "a": {"a/b.py": b"2"},
        "d": {"d.py": b"4"},
    }
    assert python_packages.travelling(groups, []) == groups


def test_the_engine_stays_imported_when_a_project_follows_one_whose_packages_travel(tmp_path):
    before = sys.modules["engine.core.inputs"]
    activate_project.activate_project(ROOT)
    root = tmp_path / "other"
    new_project.make_project(root)
    activate_project.activate_project(root)
    assert sys.modules["engine.core.inputs"] is before
