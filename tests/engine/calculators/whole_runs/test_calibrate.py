"""Calibrate to your cluster: the page, what it hands on, and the script that it prints."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from engine.answer import reply
from engine.calculator import load, make, names
from engine.calculators.whole_runs.calibrate.result import SAMPLES
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.reader_constants import NAMES, parse_constants
from engine.core.views import CalculatorLink, Value
from engine.form.imported.verdicts import JOB_TARGETS, accepted_inputs
from engine.run.logs.calibration import read_calibration
from engine.simulate.measured.calibration import KNOWN_CONSTANTS
from tests import lanes
from tests.each import each

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "content" / "tools" / "calibrate.md"
TORCHRUN = os.environ.get("TORCHRUN") or shutil.which("torchrun")
STEPS = {
    "estimate_run": "step_time",
    "import_job": "step_time",
    "levers": "step_time",
    "planner": "step",
    "parallelism_modeler": "step",
    "parallel_map": "step",
    "stack_explorer": "step_time",
    "log_check": "predicted",
    "trace_check": "predicted",
}

FASTEST = ("product", "copy", "collective")
_RATES = [name for name in NAMES if name != "fill"]
# Those that begin with another GPU, those that begin without what constants would change, and those
# where they change the length of a figure alone.
BEGINS = {
    "data_parallel_scaling": "A100-SXM-80GB",
    "layer_mix": "H200-SXM",
    "one_gpu_tuning": "RTX-4090",
    "rack_domain": "GB200",
    "grouped_products": "B200",
    "gradient_sync": "H200-SXM",
}
STARTS = {"recompute_board": {"keep_normed": False}}  # with nothing dropped nothing is repeated
LENGTHS = {"memory_ledger": "step"}


def _half(gpu):
    usual = achieved_shares(ACCELERATORS[gpu])
    return replace(usual, **{name: getattr(usual, name) / 2 for name in _RATES})


def solved(**values):
    calculator = load("calibrate")
    inputs = calculator.inputs(**{**calculator.defaults, **values})
    return calculator.solve(inputs), calculator.compute(inputs)


def sample(name):
    return SAMPLES[name].text


def script():
    text = PAGE.read_text(encoding="utf-8")
    return text.split("```python\n")[1].split("```")[0]


def links():
    _, views = solved()
    return [cell for row in views["takes"].rows for cell in row if isinstance(cell, CalculatorLink)]


def values_of(query):
    return {key.partition(".")[2]: value for key, value in parse_qsl(query)}


def test_the_sample_is_fitted_and_its_step_is_that_of_its_constants():
    result, _ = solved()
    fitted = {name: one.value for name, one in result.constants.measured}
    assert fitted["network"] == pytest.approx(KNOWN_CONSTANTS.network, rel=0.02)
    assert result.step_time > result.ours
    assert result.width < 1


def test_one_h100_gives_what_training_runs_gave():
    """Nothing of the catalog was fitted to this GPU; one GPU has no links to measure."""
    result, _ = solved(measured=sample("h100"))
    fitted = {name: one.value for name, one in result.constants.measured}
    assert result.machine == "dgx-h100"
    assert set(fitted) == set(NAMES) - {"scale_up", "network"}
    for name, value in fitted.items():
        within = 0.2 if name == "fill" else 0.1
        assert value == pytest.approx(
            getattr(achieved_shares(ACCELERATORS["H100-SXM"]), name), rel=within
        ), name
    assert abs(result.step_time / result.ours - 1) < 0.04


def test_machines_that_nothing_names_are_not_guessed():
    result, views = solved(measured=sample("cpu"))
    assert (result.machine, result.constants) == ("", None)
    assert result.step_time == result.ours
    assert views["verdict"].text == "No machine of the catalog"
    assert result.product > 1e9


def test_a_log_moves_the_prediction_by_a_part_of_its_deviation():
    preset = load("calibrate").presets["nccl-tests and a log: Llama 3 70B on 64 H100"]
    result, _ = solved(**preset)
    assert result.constants.paced == "16.megatron"
    assert result.logged[1] < result.constants.pace < 1


def test_a_log_alone_is_enough():
    preset = dict(load("calibrate").presets["nccl-tests and a log: Llama 3 70B on 64 H100"])
    log = preset["measured"][preset["measured"].index(" [2026") :]
    result, _ = solved(**preset | {"measured": log, "machine": "dgx-h100"})
    assert result.constants.measured == ()
    assert result.constants.pace < 1


def told(**values):
    """What the page says of the fastest product, copy and collective, and beside them."""
    outputs = reply({"calculator": "calibrate", "values": values})["outputs"]
    return {name: (outputs[name]["text"], outputs[name]["note"]) for name in FASTEST}


def test_what_a_text_does_not_measure_is_said_and_is_no_zero():
    missing = ("no finite value", "not measured")
    assert told(measured=sample("h100"))["collective"] == missing  # one GPU has no links
    preset = dict(load("calibrate").presets["nccl-tests and a log: Llama 3 70B on 64 H100"])
    found = told(**preset)
    assert found["product"] == found["copy"] == missing
    assert found["collective"][1] == "on the bus"
    log = preset["measured"][preset["measured"].index(" [2026") :]
    assert set(told(**preset | {"measured": log}).values()) == {missing}


def test_what_a_text_measures_is_no_missing_reading():
    assert "not measured" not in [note for _, note in told().values()]


def test_the_text_at_the_end_is_what_was_fitted():
    result, views = solved()
    assert parse_constants(views["text"].text).gpu == result.constants.gpu
    assert dict(parse_constants(views["text"].text).measured)["matmul"].value == pytest.approx(
        dict(result.constants.measured)["matmul"].value, rel=1e-3
    )


def test_a_slower_gpu_trains_fewer_tokens_at_the_largest_batch():
    own = next(link for link in links() if link.calculator == "largest_batch")
    given = values_of(own.query)
    rates = [
        reply({"calculator": "largest_batch", "values": values})["outputs"]["token_rate"]["value"]
        for values in ({"gpu": given["gpu"]}, given)
    ]
    assert rates[1] < 0.995 * rates[0]


@each("link", links)
def test_every_link_is_read_by_the_calculator_that_it_opens(link):
    found = reply({"calculator": link.calculator, "values": values_of(link.query), "only": []})
    assert not found["problems"]
    assert not [one["error"] for one in found["inputs"].values() if one["error"]]


@each("name", STEPS)
def test_constants_change_the_step_that_a_calculator_predicts(name):
    own = next(link for link in links() if link.calculator == name)
    given = values_of(own.query)
    before = {key: value for key, value in given.items() if key != "own_constants"}
    output = STEPS[name]
    steps = [
        reply({"calculator": name, "values": values, "only": [output]})["outputs"][output]["value"]
        for values in (before, given)
    ]
    assert steps[1] > 1.005 * steps[0]


def _range(name, **values):
    """By how much four in five steps of a predicted kind were faster, and slower, in percent."""
    want = {"receipts": [STEPS[name]]}
    found = reply({"calculator": name, "values": values, "want": want, "only": []})
    text = re.sub("<[^>]+>", "", found["extra"]["receipts"][STEPS[name]])
    said = re.search(r"between ([\d.]+) % less and ([\d.]+) % more", text)
    if not said:  # widened, where a job lies beyond every run of the fit
        said = re.search(r"from ([\d.]+) to ([\d.]+) times this step", text)
        return 100 * (1 - float(said[1])), 100 * (float(said[2]) - 1)
    return float(said[1]), float(said[2])


@each("name", STEPS)
def test_measured_constants_narrow_the_range_of_every_prediction(name):
    usual = achieved_shares(ACCELERATORS["H100-SXM"])
    measured = ",".join(f"{one}:{getattr(usual, one):.4g}:0.005" for one in NAMES)
    gpu = {"gpu": "H100-SXM"} if "gpu" in load(name).fields else {}
    plain = _range(name, **gpu)
    narrower = _range(name, own_constants=f"H100-SXM,{measured}", **gpu)
    assert narrower[0] < 0.97 * plain[0]
    assert narrower[1] < 0.97 * plain[1]


def test_every_calculator_that_takes_a_job_takes_the_constants():
    assert all("own_constants" in place.names for place in JOB_TARGETS.values())


def takers():
    """The calculators with a field for constants."""
    found = [name for name in names() if "own_constants" in load(name).fields]
    return lanes.sampled(found, 3)


def numbers(name, **values):
    """The numbers that a page has at once, or all of them, without its figures."""
    calculator = load(name)
    views = calculator.lazy(make(calculator, values))
    shown = views.compute(views.numbers or views.in_words).values()
    return [view.value for view in shown if isinstance(view, Value)]


@each("name", takers)
def test_constants_change_numbers_wherever_there_is_a_field_for_them(name):
    # Half of all rates of the catalog, on the GPUs that calculators begin with.
    gpu = BEGINS.get(name, "H100-SXM")
    half = _half(gpu)
    slow = ",".join(f"{one}:{getattr(half, one):.4g}:0.01" for one in _RATES)
    seen = length if name in LENGTHS else numbers
    start = STARTS.get(name, {})
    assert seen(name, own_constants=f"{gpu},{slow}", **start) != seen(name, **start)


def length(name, **values):
    """How long a time line is, where only time depends on the constants."""
    asked = {"calculator": name, "values": values, "only": [LENGTHS[name]]}
    return reply(asked)["outputs"][LENGTHS[name]]["axis"]["high"]


def test_a_lab_with_names_of_its_own_takes_the_gpu_of_a_kept_cluster():
    given = {"gpu": "B200", "own_constants": "B200,matmul:0.2:0.01"}
    found = reply({"calculator": "zero_3_lab", "values": given})
    assert found["inputs"]["gpu"]["value"] == "b200"
    plain = reply({"calculator": "zero_3_lab", "values": {"gpu": "b200"}})
    steps = [one["outputs"]["step_time"]["value"] for one in (found, plain)]
    assert steps[0] > 1.2 * steps[1]


def test_a_kept_job_fills_only_what_a_calculator_has():
    for name in names():
        fields = load(name).fields
        assert set(accepted_inputs(name, fields)) <= set(fields)
        assert ("own_constants" in accepted_inputs(name, fields)) == ("own_constants" in fields)


@each("name", takers)
def test_a_kept_cluster_is_read_wherever_it_is_offered(name):
    given = {"gpu": "H100-SXM", "machine": "dgx-h100", "own_constants": "H100-SXM,matmul:0.5:0.01"}
    own = accepted_inputs(name, load(name).fields)
    values = {key: value for key, value in given.items() if key in own}
    found = reply({"calculator": name, "values": values, "only": []})
    assert not found["problems"]
    assert not [one["error"] for one in found["inputs"].values() if one["error"]]


def test_constants_of_another_gpu_are_said_not_to_count():
    values = {"gpu": "A100-SXM-80GB", "own_constants": "H100-SXM,matmul:0.5:0.01"}
    found = reply(
        {"calculator": "estimate_run", "values": values, "want": {"receipts": ["step_time"]}}
    )
    assert "do not count here" in found["extra"]["receipts"]["step_time"]


def test_the_script_on_the_page_prints_what_is_read_here(tmp_path):
    """On two processes of a CPU with gloo, as `torchrun` starts it."""
    if TORCHRUN is None:
        pytest.skip("PyTorch is missing: set TORCHRUN to the torchrun of PyTorch 2.5 or later")
    (tmp_path / "calibrate.py").write_text(script(), encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [TORCHRUN, "--nproc-per-node=2", "calibrate.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found, kept = read_calibration(done.stdout), read_calibration(sample("cpu"))
    assert found.unread == 0
    assert {one.operation for one in found.collectives} == {
        "all_reduce", "all_gather", "reduce_scatter"
    }  # fmt: skip
    for name in ("products", "attention", "copies", "collectives"):
        assert len(getattr(found, name)) == len(getattr(kept, name)), name
    assert json.loads(done.stdout)["backend"] == "gloo"


def test_the_axis_of_the_fit_has_the_range_of_its_points():
    _, views = solved()
    chart = views["points"]
    found = [y for series in chart.series for y in series.y]
    assert chart.y.low < min(found) < 1 < max(found) < chart.y.high
    assert max(found) - min(found) > 0.7 * (chart.y.high - chart.y.low)


def test_another_job_on_the_same_machines_fits_no_constant_again(monkeypatch):
    from engine.calculators.whole_runs.calibrate import result

    fitted = []
    real = result.calibrate
    monkeypatch.setattr(result, "calibrate", lambda *given: fitted.append(1) or real(*given))
    result._measured.cache_clear()
    for model in ("llama-3-70b", "llama-3-8b"):
        assert reply({"calculator": "calibrate", "values": {"model": model}})["outputs"]
    assert len(fitted) == 1
