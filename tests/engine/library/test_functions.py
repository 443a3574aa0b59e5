"""The functions of the library: what they return, what they refuse, and their examples."""

import doctest
import json
from importlib.util import find_spec
from types import FunctionType

import pytest

from engine.estimate import estimate as estimate_document
from engine.library import package
from engine.run.file import read_run
from engine.simulate.profile_analysis.sample import sample_files
from tests.each import each
from tests.engine.test_estimate import RUN

JOB = {
    "model": "llama-3-8b",
    "cluster": RUN["cluster"],
    "world_size": 64,
    "sequence_length": 8192,
    "global_batch_size": 512,
}
FUNCTIONS = [name for name in package.__all__ if isinstance(getattr(package, name), FunctionType)]
SCRIPT = """torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 \\
  --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 \\
  --global-batch-size 64 --tensor-model-parallel-size 8 --bf16 --swiglu --vocab-size 32000
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that examples read."""
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "train.sh").write_text(SCRIPT)
    (tmp_path / "trace.json").write_text(sample_files()[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each("name", [name for name in FUNCTIONS if name != "widget" or find_spec("anywidget")])
def test_every_example_of_a_docstring_runs(folder, name):
    names = {"run": RUN, **{name: getattr(package, name) for name in package.__all__}}
    found = doctest.DocTestFinder(recurse=False).find(getattr(package, name), name, globs=names)
    runner = doctest.DocTestRunner(verbose=False)
    said = []
    for example in found:
        runner.run(example, out=said.append)
    assert runner.summarize(verbose=False).attempted, f"{name} has no example"
    assert said == []


def test_a_record_holds_what_the_terminal_prints():
    record = package.as_dict(package.estimate(RUN))
    printed = estimate_document(read_run(RUN))
    basis = printed["range_basis"]
    same = {**printed, "range_basis": {"name": basis["class"], "runs": basis["runs"]}}
    assert record == {"cost_per_step": None, **same}


def test_a_price_makes_a_cost():
    cluster = {**RUN["cluster"], "price_per_hour": 3.6}
    result = package.estimate({**RUN, "cluster": cluster})
    assert result.cost_per_step == pytest.approx(1024 * result.step_time * 3.6 / 3600)


def test_a_run_can_be_given_in_every_form(folder):
    expected = package.estimate(RUN)
    config = package.read_config("run.json")
    for source in ("run.json", folder / "run.json", config, config.run):
        assert package.estimate(source) == expected


def test_all_problems_are_in_one_value_error():
    wrong = {**RUN, "sequence_length": 0, "cluster": {**RUN["cluster"], "gpus_per_nod": 8}}
    with pytest.raises(ValueError, match="sequence_length") as caught:
        package.estimate(wrong)
    assert isinstance(caught.value, package.InputError)
    assert len(caught.value.problems) == 2
    assert "did you mean 'gpus_per_node'?" in str(caught.value)


@each(
    ("typed", "value"),
    [("200 Gb/s", 25e9), ("25GB/s", 25e9), ("0.2Tb/s", 25e9), ("400Gbps", 50e9)],
)
def test_a_rate_may_have_its_unit(typed, value):
    run = {**RUN, "cluster": {**RUN["cluster"], "nic_bandwidth": typed}}
    assert package.read_config(run).run.cluster.nic_bandwidth == value


@each("typed", ["200", "200 Gb", "fast", "-1 Gb/s", ""])
def test_a_rate_without_its_unit_is_refused(typed):
    run = {**RUN, "cluster": {**RUN["cluster"], "nic_bandwidth": typed}}
    with pytest.raises(package.InputError, match='such as "400 Gb/s"'):
        package.read_config(run)


def test_tokens_may_be_counted_in_trillions():
    exact = package.plan({**JOB, "tokens": 10**12, "count": 1})
    assert package.plan({**JOB, "tokens": "1T", "count": 1}) == exact
    assert exact.plans[0].days > 0


def test_a_plan_can_be_estimated_and_simplified():
    plans = package.plan({**JOB, "why": {"tensor_parallel": 8}})
    times = [plan.step_time for plan in plans.plans]
    assert times[0] == min(times)
    assert plans.tied >= 1
    assert plans.simplest.step_time >= times[0]
    assert plans.reason
    assert package.estimate(plans.simplest.document).memory_process == (
        pytest.approx(plans.simplest.memory_process)
    )


def test_a_launch_script_is_read_with_what_was_assumed(folder):
    config = package.read_config("train.sh", node="dgx-a100")
    assert config.run.cluster.gpu.name.startswith("A100")
    assert config.run.plan.world_size == 16
    assert {entry.kind for entry in config.entries} >= {"understood", "assumed"}
    assert package.estimate(config.document) == package.estimate(config)


def test_configurations_that_do_not_say_enough_are_refused(folder):
    (folder / "half.sh").write_text("python pretrain_gpt.py --seq-length 4096 --bf16\n")
    with pytest.raises(package.InputError, match="no text says which model"):
        package.read_config("half.sh")
    with pytest.raises(package.InputError, match="did you mean 'dgx-h100'"):
        package.read_config("train.sh", node="dgx-h10")
    with pytest.raises(package.InputError, match="one mapping, or paths"):
        package.read_config(RUN, "train.sh")
    with pytest.raises(package.InputError, match="one mapping, or paths"):
        package.read_config()


def test_a_broken_file_is_named(folder):
    (folder / "run.json").write_text("{")
    with pytest.raises(package.InputError, match=r"run\.json: .*; allowed: one JSON object"):
        package.estimate("run.json")
    with pytest.raises(package.InputError, match="request: "):
        package.plan("run.json") if (folder / "run.json").write_text("[]") else None


def test_two_ranks_of_a_trace_wait_for_each_other(folder):
    for number, text in enumerate(sample_files()):
        (folder / f"rank{number}.json").write_text(text)
    summary = package.read_trace("rank0.json", "rank1.json")
    assert len(summary.ranks) == 2
    assert summary.straggler in {step.rank for step in summary.ranks}
    assert sum(step.waited for step in summary.ranks) > 0


def test_a_collective_has_the_time_of_its_choice():
    result = package.all_reduce(size=1e9, gpus=64)
    assert result.choices[result.choice] == result.time
    assert result.bus_bandwidth == pytest.approx(2 * 63 / 64 * 1e9 / result.time)


@each(
    ("change", "said"),
    [
        ({"size": 0}, "size: 0; allowed: a number above 0"),
        ({"gpus": 1}, "gpus: 1; allowed: a number above 1"),
        ({"node": "dgx"}, 'node: "dgx"; allowed: dgx-2, '),
    ],
)
def test_impossible_collectives_are_refused(change, said):
    with pytest.raises(package.InputError) as caught:
        package.all_reduce(**{"size": 1e6, "gpus": 8, **change})
    assert caught.value.problems[0].startswith(said)


def test_an_unknown_collective_is_refused():
    with pytest.raises(package.InputError, match='operation: "gossip"'):
        package.collective("gossip", 1e6, 8)
