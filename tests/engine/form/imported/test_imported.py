"""A reader's own configuration: samples, exports, links, and words that no file can break."""

import csv
import io
import json
import random
import tomllib
from urllib.parse import parse_qsl

import pytest

from engine.answer import reply
from engine.calculator import load
from engine.core.inputs import InputError, Text
from engine.estimate import estimate
from engine.form.imported import exports, verdicts
from engine.form.imported.run_text import parse_job_text
from engine.form.imported.samples import SAMPLES
from engine.form.imported.verdicts import JOB_TARGETS, job_links, job_values
from engine.form.text_validation import text_check
from tests.engine.run.importers.fuzz import mutated

MEANT = {
    "megatron": (64, 1, 4, 8),
    "log": (512, 8, 4, 1),
    "bridge": (64, 4, 4, 1),
    "torchtitan-toml": (8, 1, 1, 1),
    "torchtitan-python": (256, 8, 1, 1),
    "torchtitan-main": (16, 1, 1, 1),
    "deepspeed": (128, 1, 1, 1),
    "accelerate": (64, 1, 1, 1),
    "config": (8, 1, 1, 1),
}


def run_of(name):
    return parse_job_text(SAMPLES[name].text).run


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_the_job_it_says(name):
    plan = run_of(name).plan
    axes = (plan.world_size, plan.tensor_parallel, plan.pipeline_parallel, plan.expert_parallel)
    assert axes == MEANT[name]


def test_what_no_text_says_is_chosen_below_it():
    found = parse_job_text('{"zero_optimization": {"stage": 3}}', "llama-3-8b", "dgx-b200", 16)
    assert found.run.cluster.gpu.name.startswith("B200")
    assert found.run.plan.world_size == 16
    assert {"model", "cluster.gpu"} <= {one.key for one in found.entries if one.kind == "assumed"}


def test_a_text_without_a_model_says_so():
    found = reply(
        {
            "calculator": "import_job",
            "typed": {"text": "pretrain_gpt.py --tensor-model-parallel-size 2"},
        }
    )
    badge = found["outputs"]["verdict"]
    assert "Contradiction" in badge["html"]
    assert "model" in badge["html"]
    assert found["outputs"]["step_time"]["value"] is None


def test_what_cannot_be_read_is_refused_with_line_and_column():
    with pytest.raises(InputError, match="line 2, column 17"):
        text_check(parse_job_text)('{"model_type": "llama",\n "hidden_size": }')


@pytest.mark.parametrize("name", JOB_TARGETS)
def test_a_place_is_a_calculator_with_these_inputs(name):
    assert set(JOB_TARGETS[name].names) <= set(load(name).fields)


@pytest.mark.parametrize("name", JOB_TARGETS)
def test_a_link_gives_a_calculator_the_job(name):
    run = run_of("bridge")
    values = dict(parse_qsl(job_links(run).places[name]))
    found = reply(
        {"calculator": name, "values": {key.split(".")[1]: text for key, text in values.items()}}
    )
    assert found["problems"] == []
    assert {key: one["error"] for key, one in found["inputs"].items() if one["error"]} == {}
    assert found["inputs"]["tensor_parallel"]["value"] == "4"
    assert found["inputs"]["model"]["value"] == "llama-3-70b"


def test_the_link_to_the_estimate_gives_the_same_step():
    run = run_of("bridge")
    values = {
        key.split(".")[1]: text for key, text in parse_qsl(job_links(run).places["estimate_run"])
    }
    found = reply({"calculator": "estimate_run", "values": values})
    assert found["outputs"]["step_time"]["value"] == pytest.approx(estimate(run)["step_time"])


def test_a_model_of_ones_own_goes_where_its_shape_can_be_typed():
    run = run_of("megatron")
    assert job_values(run)["model"] == "custom"
    assert list(job_links(run).places) == ["estimate_run", "sandbox"]


@pytest.mark.parametrize("kind", exports.EXPORTS)
def test_an_export_of_a_catalog_model_is_text_of_its_language(kind):
    text = exports.write_export(kind, parse_job_text(SAMPLES["bridge"].text), None)
    if exports.language(kind) == "json":
        assert json.loads(text)["train_batch_size"] == 128
    elif exports.language(kind) == "toml":
        assert tomllib.loads(text)["model"] == {"name": "llama3", "flavor": "70B"}
    elif exports.language(kind) == "python":
        compile(text, kind, "exec")
    else:
        assert "4" in text


def test_a_model_that_torchtitan_lacks_leaves_names_to_fill_in():
    assert tomllib.loads(exports.EXPORTS["torchtitan-toml"].write(run_of("megatron")))["model"] == {
        "name": "your_model",
        "flavor": "your_flavor",
    }


def test_the_recipe_of_bridge_is_named():
    written = exports.EXPORTS["bridge"].write(run_of("bridge"))
    assert "--recipe llama3_70b_pretrain_config" in written


HOSTILE = (
    '{"zero_optimization": {"stage": 1}, "<b>x|y</b>": "=cmd()|<script>", "a,\\"b": "`x`\\n|"}'
)


def test_csv_holds_a_row_for_each_key_and_no_formula():
    found = parse_job_text(HOSTILE, "llama-3-8b")
    rows = list(csv.reader(io.StringIO(exports.entries_csv(found))))
    assert len(rows) == len(found.entries) + 1
    assert {len(row) for row in rows} == {5}
    assert not [cell for row in rows for cell in row if cell.startswith("=")]


def test_markdown_holds_no_markup_of_a_file():
    found = parse_job_text(HOSTILE, "llama-3-8b")
    text = exports.report_markdown(found, None)
    assert "<script" not in text
    assert "<b>" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}


def test_no_markup_of_a_file_reaches_the_page():
    found = reply(
        {"calculator": "import_job", "typed": {"text": HOSTILE}, "values": {"model": "llama-3-8b"}}
    )
    sent = json.dumps([view.get("html", "") for view in found["outputs"].values()])
    assert "&lt;script&gt;" in sent
    assert "<script" not in sent
    assert "<b>" not in sent


def test_braces_of_a_contradiction_name_no_number():
    found = parse_job_text("--num-layers {x} --tensor-model-parallel-size 3 --hidden-size 12")
    assert found.run is None
    assert "{" not in verdicts.verdict_badge(found, None).sentence


def damaged(text):
    """What the page answers to a damaged text: why it is refused, or the HTML of its views."""
    found = reply({"calculator": "import_job", "typed": {"text": text}})
    error = found["inputs"]["text"]["error"]
    assert error or found["outputs"]
    assert json.dumps(found["outputs"], allow_nan=False)
    return error or json.dumps([view.get("html", "") for view in found["outputs"].values()])


def test_the_page_answers_damaged_texts_or_refuses_them():
    source = random.Random("pasted")
    limit = load("import_job").fields["text"]
    assert isinstance(limit, Text)
    for _ in range(300):
        answered = damaged(mutated(source))
        assert "<script" not in answered
