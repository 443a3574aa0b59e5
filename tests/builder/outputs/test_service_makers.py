"""The real makers, each by the smallest thing that it makes."""

import pytest

from builder.cli import parser
from builder.core import node
from builder.outputs import service_makers
from engine.answer import reply


@pytest.fixture(scope="module")
def makers(tmp_path_factory):
    theme = parser.DEFAULT_PROJECT / "theme"
    return service_makers.make_services(
        parser.DEFAULT_PROJECT / "engine", theme, tmp_path_factory.mktemp("cache")
    )


def test_formulas_are_typeset_and_faults_are_told(makers):
    good, bad = makers.typeset(
        [{"tex": "a + b", "display": True}, {"tex": r"\nothing", "display": False}]
    )
    assert good["html"].startswith("<math")
    assert "nothing" in bad["error"]


def test_a_scene_is_its_frames_and_a_chart_a_document(makers):
    outputs = reply({"calculator": "bubble_conventions"})["outputs"]
    scene = {"kind": "scene", "frames": [{"caption": "x"}]}
    assert makers.figure("a.scene", scene) == {"frames": [{"caption": "x"}]}
    document = makers.figure("a.bubble", outputs["bubble"])["item"]
    assert document["root_id"].startswith("a-bubble")


def test_a_chart_is_drawn(makers):
    view = reply({"calculator": "bubble_conventions"})["outputs"]["bubble"]
    drawn = makers.draw({"a": {"view": view, "spoken": "Words about it."}})
    assert list(drawn) == ["a"]
    assert drawn["a"].startswith("<svg")
    assert "Words about it." in drawn["a"]


def test_bokeh_is_one_script(makers):
    assert b"Bokeh" in makers.bokeh()


def test_a_failing_node_is_one_sentence(makers, monkeypatch):
    def fail(*_):
        raise node.NodeError("no Node here")

    monkeypatch.setattr(node, "run", fail)
    for make in (
        lambda: makers.typeset([]),
        lambda: makers.check_modules({}),
        lambda: makers.draw({"a": {}}),
    ):
        with pytest.raises(service_makers.ServiceError, match="no Node here"):
            make()


def test_another_typesetter_is_another_version(makers, tmp_path):
    (tmp_path / "package-lock.json").write_text("{}")
    other = service_makers.make_services(parser.DEFAULT_PROJECT / "engine", tmp_path, tmp_path)
    assert other.typeset_version != makers.typeset_version
