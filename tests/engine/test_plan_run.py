"""`python -m engine plan`: what is printed, and what is refused."""

import io
import json
import re
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.run.file import read_run

REQUEST = {
    "model": "llama-7b",
    "sequence_length": 4096,
    "cluster": {
        "gpu": "H100-SXM",
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": 50e9,
        "price_per_hour": 2,
    },
    "world_size": 64,
    "global_batch_size": 1024,
    "kept_free": 0.05,
    "count": 3,
    "tokens": 10**12,
}


def run(document, monkeypatch, *options):
    text = document if isinstance(document, str) else json.dumps(document)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return main(["plan", "-", *options])


def test_the_best_plans_are_told(monkeypatch, capsys):
    why = {"tensor_parallel": 8, "pipeline_parallel": 2}
    assert run(REQUEST | {"why": why}, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Megatron, DP 64, ZeRO-1, micro-batch 1, nothing recomputed" in lines[0]
    assert sum(line.startswith(("  1  ", "  2  ", "  3  ")) for line in lines) == 3
    assert any(" kinds of plans tie: within 7.7 % of the fastest" in line for line in lines)
    assert any(line.startswith("The whole run: 14.7 days, 45,") for line in lines)
    assert any(line.startswith("In the end, as pretraining runs went: ") for line in lines)
    assert lines[-2] == (
        "Why not Megatron, TP 8 × PP 2 × DP 4, ZeRO-1, micro-batch 1, nothing recomputed, 1f1b?"
    )
    assert "tensor parallelism" in lines[-1]


def test_published_plans_are_told_with_their_source(monkeypatch, capsys):
    request = REQUEST | {"model": "llama-3-70b", "sequence_length": 8192}
    assert run(request, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    (told,) = [line for line in lines if line.startswith("NVIDIA's recipe, NeMo 24.07 for 64 H100")]
    assert " in its process" in told
    assert told.endswith("[nemo_2407].")
    assert run(request, monkeypatch, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    sources = {one["source"]: one for one in answer["published"]}
    nemo = sources["nemo_2407"]
    assert nemo["slower"] == nemo["plan"]["step_time"] / answer["plans"][0]["step_time"] >= 1


def test_the_guide_shows_what_is_printed(monkeypatch, capsys):
    guides = Path(__file__).parents[2] / "content" / "guides"
    guide = (guides / "choosing-a-configuration.md").read_text("utf-8")
    shown = guide[guide.index("The planner in a terminal") :]
    request, printed = re.findall(r"```(?:json|text)\n(.*?)```", shown, re.DOTALL)[:2]
    assert run(request, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in printed.splitlines() if line not in lines] == []


def test_a_printed_plan_is_a_run_file_of_the_same_step(monkeypatch, capsys):
    assert run(REQUEST, monkeypatch, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["plans"]) == 3
    for plan in told["plans"]:
        keys = ("model", "sequence_length", "cluster")
        document = {key: REQUEST[key] for key in keys} | {
            key: plan[key] for key in ("parallelism", "training")
        }
        from engine.estimate import estimate

        assert estimate(read_run(document))["step_time"] == plan["step_time"]
        assert plan["step_time_low"] < plan["step_time"] < plan["step_time_high"]


def test_an_uneven_pipeline_says_its_layout(monkeypatch, capsys):
    choose = {"frameworks": ["megatron"], "pipeline_parallel": [16], "tensor_parallel": [8]}
    request = REQUEST | {"model": "llama-3-405b", "sequence_length": 8192, "choose": choose}
    request |= {"world_size": 1024, "global_batch_size": 256, "count": 5}
    assert run(request, monkeypatch, "--json") == 0
    plans = json.loads(capsys.readouterr().out)["plans"]
    layouts = [one["parallelism"].get("pipeline_layout") for one in plans]
    assert any(layouts)
    assert all(sum(layout) == 126 for layout in layouts if layout)


def test_a_job_that_nothing_holds(monkeypatch, capsys):
    request = REQUEST | {"model": "llama-3-405b", "why": {"zero_stage": 1}}
    assert run(request, monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.startswith("No plan fits: ")
    assert "more than a GPU has" in out


BAD = {
    "world_size": (REQUEST | {"world_size": 0}, "world_size: 0; allowed: a whole number from 1"),
    "unknown": (REQUEST | {"gpus": 3}, "gpus: 3; unknown key; allowed: model"),
    "model": (REQUEST | {"model": "gpt-9"}, 'model: "gpt-9"; allowed: an object, or one of'),
    "choice": (
        REQUEST | {"choose": {"schedules": ["best"]}},
        'choose.schedules: ["best"]; allowed: a list of different names',
    ),
    "choices": (REQUEST | {"choose": {"nodes": 3}}, "choose.nodes: 3; unknown key"),
    "sizes": (
        REQUEST | {"choose": {"tensor_parallel": [0]}},
        "choose.tensor_parallel: [0]; allowed: a list of whole numbers from 1",
    ),
    "free": (REQUEST | {"kept_free": 1}, "kept_free: 1; allowed: a number from 0"),
    "batch": (
        REQUEST
        | {"global_batch_size": 7, "choose": {"context_parallel": [1], "pipeline_parallel": [1]}},
        "world_size: 64; allowed: GPUs over which a global batch of 7",
    ),
    "why": (REQUEST | {"why": 3}, "why: 3; allowed: an object"),
    "whys": (REQUEST | {"why": {"tp": 3}}, "why.tp: 3; unknown key"),
    "list": ([], "request: []; allowed: an object"),
    "text": ("{", "-: Expecting property name"),
    "nested": ("[" * 100_000 + "]" * 100_000, "-: nested too deeply"),
    "long": (
        json.dumps(REQUEST | {"world_size": "9"}).replace('"9"', "9" * 5000),
        f"world_size: {'9' * 77}...; allowed: ",
    ),
    "training": (
        REQUEST | {"training": {"micro_batch_size": 2}},
        "training.micro_batch_size: 2; unknown key",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_ends_in_one_line(name, monkeypatch, capsys):
    document, expected = BAD[name]
    assert run(document, monkeypatch) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(expected)


def test_a_plan_asked_about_that_is_impossible_is_refused(monkeypatch, capsys):
    assert run(REQUEST | {"why": {"tensor_parallel": 5}}, monkeypatch) == 2
    assert "parallelism" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys):
    assert main(["plan", "nowhere.json"]) == 2
    assert "No such file" in capsys.readouterr().err
