import re
import runpy
import sys

import pytest

from builder.project import environment

LOCKS = {"build.txt": "a==1 --hash=sha256:0\n", "test.txt": "a==1 --hash=sha256:0\nb==2\n"}


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "requirements").mkdir()
    for name, text in LOCKS.items():
        (tmp_path / "requirements" / name).write_text(text)
    installed = []

    def make(folder):
        python = environment.python_path(folder)
        python.parent.mkdir(parents=True)
        python.touch()

    monkeypatch.setattr(environment, "make_environment", make)
    monkeypatch.setattr(
        environment, "install_locked", lambda python, locked: installed.append(locked.name)
    )
    return tmp_path, installed


def prepare(folder, *, testing=False):
    return environment.prepare_environment(folder, testing=testing, report=lambda text: None)


def test_the_dependencies_are_installed(root):
    folder, installed = root
    prepare(folder)
    assert installed == ["build.txt"]


def test_the_verb_test_installs_those_of_the_tests_too(root):
    folder, installed = root
    prepare(folder, testing=True)
    assert installed == ["test.txt"]


def test_the_python_of_the_environment_is_returned(root):
    folder, _ = root
    assert prepare(folder) == environment.python_path(folder / ".venv")


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


def test_a_changed_lock_installs_again(root):
    folder, installed = root
    prepare(folder)
    (folder / "requirements" / "build.txt").write_text("a==2\n")
    prepare(folder)
    assert len(installed) == 2


def test_a_failed_installation_is_tried_again(root, monkeypatch):
    folder, installed = root
    good = environment.install_locked

    def fail(python, locked):
        raise OSError("no network")

    monkeypatch.setattr(environment, "install_locked", fail)
    with pytest.raises(OSError, match="no network"):
        prepare(folder)
    monkeypatch.setattr(environment, "install_locked", good)
    prepare(folder)
    assert len(installed) == 1


def test_an_old_python_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"this is Python 3\.9; 3\.11 or newer is needed"):
        runpy.run_path(str(environment.ROOT / "build.py"), run_name="__main__")


def test_a_python_without_venv_names_the_debian_package(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(OSError, match="python3-venv"):
        environment.make_environment(tmp_path / ".venv")


def test_pips_own_reason_is_passed_on(tmp_path):
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'ERROR: no space left' >&2\nexit 1\n")
    pip.chmod(0o755)
    message = "pip could not install the packages: no space left"
    with pytest.raises(OSError, match=message):
        environment.install_locked(pip, tmp_path / "build.txt")


def test_modules_that_are_not_there_are_missing():
    assert environment.missing_modules(["json", "no_such_module"]) == ["no_such_module"]


def test_every_dependency_has_its_module_in_the_list():
    names = environment.requirements(environment.ROOT, testing=True)
    assert len(names) == len(environment.MODULES) + len(environment.TEST_MODULES)


@pytest.mark.parametrize("testing", [False, True])
def test_every_dependency_is_locked_with_hashes(testing):
    text = environment.lock_file(environment.ROOT, testing=testing).read_text("utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE))
    wanted = environment.requirements(environment.ROOT, testing=testing)
    names = {re.match(r"[\w.-]+", one)[0] for one in wanted}
    assert {_normal(name) for name in names} <= {_normal(name) for name in locked}


def _normal(name):
    """The name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_locked_package_has_a_hash():
    text = environment.lock_file(environment.ROOT, testing=True).read_text("utf-8")
    packages = re.findall(r"^[\w.-]+==.*", text, re.MULTILINE)
    assert packages
    assert [line for line in packages if not line.endswith("\\")] == []


def test_the_workflow_and_the_readme_name_one_python():
    files = (".github/workflows/publish.yml", "README.md")
    texts = [(environment.ROOT / name).read_text("utf-8") for name in files]
    found = [set(re.findall(r"[Pp]ython(?:-version:)? \"?(3\.\d+)\b", text)) for text in texts]
    assert found[0] == {"3.11"}
    assert "3.11" in found[1]


@pytest.mark.parametrize(
    ("words", "testing"),
    [
        (["test"], True),
        (["--project", "folder", "test"], True),
        (["--project", "test", "build"], False),
        (["new", "calculator", "x", "test"], False),
        (["--project", "folder", "new", "test"], False),
    ],
)
def test_only_the_verb_test_asks_for_what_tests_need(monkeypatch, words, testing):
    asked = []
    monkeypatch.setattr(environment, "missing_modules", lambda modules: asked.append(modules) or ())
    environment.ensure_environment(words)
    more = environment.TEST_MODULES if testing else ()
    assert asked == [(*environment.MODULES, *more)]
