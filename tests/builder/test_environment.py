import runpy
import sys

import pytest

from builder import environment

PYPROJECT = '[project]\ndependencies = ["a>=1"]\n[project.optional-dependencies]\ntest = ["b"]\n'


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    installed = []

    def make(folder):
        python = environment.python_of(folder)
        python.parent.mkdir(parents=True)
        python.touch()

    monkeypatch.setattr(environment, "make", make)
    monkeypatch.setattr(environment, "install", lambda python, names: installed.append(names))
    return tmp_path, installed


def prepare(folder, *, testing=False):
    return environment.prepare(folder, testing=testing, say=lambda text: None)


def test_the_dependencies_are_installed(root):
    folder, installed = root
    prepare(folder)
    assert installed == [["a>=1"]]


def test_the_verb_test_installs_those_of_the_tests_too(root):
    folder, installed = root
    prepare(folder, testing=True)
    assert installed == [["a>=1", "b"]]


def test_the_python_of_the_environment_is_returned(root):
    folder, _ = root
    assert prepare(folder) == environment.python_of(folder / ".venv")


def test_nothing_is_installed_twice(root):
    folder, installed = root
    prepare(folder)
    prepare(folder)
    assert len(installed) == 1


def test_an_environment_with_the_tests_serves_the_other_verbs(root):
    folder, installed = root
    prepare(folder, testing=True)
    prepare(folder)
    assert len(installed) == 1


def test_a_changed_pyproject_installs_again(root):
    folder, installed = root
    prepare(folder)
    (folder / "pyproject.toml").write_text(PYPROJECT.replace("a>=1", "a>=2"))
    prepare(folder)
    assert installed[1] == ["a>=2"]


def test_a_failed_installation_is_tried_again(root, monkeypatch):
    folder, installed = root
    good = environment.install

    def fail(python, names):
        raise OSError("no network")

    monkeypatch.setattr(environment, "install", fail)
    with pytest.raises(OSError, match="no network"):
        prepare(folder)
    monkeypatch.setattr(environment, "install", good)
    prepare(folder)
    assert len(installed) == 1


def test_an_old_python_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"this is Python 3\.9; 3\.11 or newer is needed"):
        runpy.run_path(str(environment.ROOT / "build.py"), run_name="__main__")


def test_a_python_without_venv_names_the_debian_package(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(OSError, match="python3-venv"):
        environment.make(tmp_path / ".venv")


def test_pips_own_reason_is_passed_on(tmp_path):
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'ERROR: no space left' >&2\nexit 1\n")
    pip.chmod(0o755)
    message = "pip could not install the packages: no space left"
    with pytest.raises(OSError, match=message):
        environment.install(pip, ["a"])


def test_modules_that_are_not_there_are_missing():
    assert environment.missing(["json", "no_such_module"]) == ["no_such_module"]


def test_every_dependency_has_its_module_in_the_list():
    names = environment.requirements(environment.ROOT / "pyproject.toml", testing=True)
    assert len(names) == len(environment.MODULES) + len(environment.TEST_MODULES)
