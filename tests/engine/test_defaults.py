"""One set of defaults: terminal, run files, requests and forms say the same of what is not said."""

from dataclasses import MISSING, fields, replace
from pathlib import Path
from re import findall

from engine.calculator import load, names
from engine.form.planner.inputs import Inputs as PlannerInputs
from engine.form.planner.inputs import job_of
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run, run_document
from engine.run.document import read_document
from engine.run.keys import CLUSTER, PLAN, TRAINING
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.plan_request import read_request
from engine.run.plan_space import PlanningJob
from tests.each import each

# What a form opens with is its example: the job, and the plan that somebody has for it.
EXAMPLE = {
    *("micro_batch_size", "global_batch_size", "sequence_length", "precision", "recompute"),
    *("schedule", "framework", "optimizer", "lora_rank"),
}
SETTINGS = {
    field.name: field.default
    for field in fields(Training)
    if field.default is not MISSING and field.name not in EXAMPLE
} | {"kept_free": next(f.default for f in fields(PlanningJob) if f.name == "kept_free")}
PLANNED = tuple(
    field.name
    for field in fields(PlannerInputs)
    if field.name in SETTINGS and field.name in TRAINING
)
# What a run file derives from others where it is left out.
DERIVED = {"overlap_expert_parallel", "schedule", "sequence_parallel", "price_per_hour"}


@each("name", names())
def test_a_form_asks_for_a_setting_as_software_has_it_unasked(name):
    calculator = load(name)
    asked = calculator.fields.keys() & SETTINGS.keys()
    said = {key: calculator.defaults[key] for key in asked}
    said |= {
        key: calculator.defaults[f"b_{key}"] for key in asked if f"b_{key}" in calculator.fields
    }
    assert said == {key: SETTINGS[key] for key in asked}


def test_a_run_file_leaves_out_what_the_records_have():
    for spec, record in ((TRAINING, Training), (PLAN, Plan), (CLUSTER, Cluster)):
        known = {field.name: field.default for field in fields(record)}
        for key, default in spec.defaults.items():
            if default is not ... and key not in DERIVED:
                assert default == known[key], key


def test_every_setting_of_the_form_of_a_run_is_a_key_of_a_run_file():
    settings = {field.name for field in fields(Inputs)} & SETTINGS.keys()
    assert settings <= TRAINING.keys()
    assert {"overlap_expert_parallel", "fused_experts", "exchange", "cuda_graphs"} <= settings


def test_the_form_of_a_run_opens_as_a_run_file_that_says_only_its_plan():
    document = run_document(Inputs())
    training = document["training"]
    plan = {key: value for key, value in training.items() if key in EXAMPLE}
    assert plan != training
    assert read_document({**document, "training": plan}) == nearest_run(Inputs())[0]


@each("model, gpu", [("llama-2-7b", "H100-SXM"), ("deepseek-v3", "B200")])
def test_the_planner_s_form_asks_what_a_request_asks(model, gpu):
    inputs = replace(PlannerInputs(), model=model, gpu=gpu)
    form = job_of(inputs)
    cluster = {
        "gpu": inputs.gpu,
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": inputs.nic_bandwidth,
    }
    request = read_request(
        {
            "model": inputs.model,
            "sequence_length": inputs.sequence_length,
            "cluster": cluster,
            "world_size": inputs.world_size,
            "global_batch_size": inputs.global_batch_size,
        }
    ).job
    assert form.training == request.training
    assert form.kept_free == request.kept_free
    assert (form.frameworks, form.precisions) == (request.frameworks, request.precisions)


JOB = {"model": "deepseek-v3", "sequence_length": 4096}
MACHINES = {"gpu": "B200", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 50e9}
# What a run file has to say, and a request leaves to the planner.
CHOSEN = {"micro_batch_size": 1, "precision": "bf16", "recompute": "none", "framework": "megatron"}


@each("said", [{}, {"overlap_tensor_parallel": True}, {"overlap_expert_parallel": True}])
def test_a_request_leaves_out_what_a_run_file_leaves_out(said):
    asked = {**JOB, "cluster": MACHINES, "world_size": 256, "global_batch_size": 2048}
    request = read_request({**asked, "training": said}).job
    plan = {"world_size": 256, "pipeline_parallel": 8, "expert_parallel": 8}
    training = {**CHOSEN, "global_batch_size": 2048, **said}
    run = read_document({**JOB, "cluster": MACHINES, "parallelism": plan, "training": training})
    assert run.training == request.training
    assert run.cluster == request.cluster


@each("key", [key for key in PLANNED if isinstance(SETTINGS[key], bool)] + ["exchange"])
def test_a_switch_of_the_planner_s_form_is_that_of_a_request(key):
    values = ("deepep",) if key == "exchange" else (False, True)
    for value in values:
        inputs = replace(
            PlannerInputs(), model="deepseek-v3", gpu="B200", world_size=256, **{key: value}
        )
        # The form says every setting; a request that says as much has the same job.
        said = {name: getattr(inputs, name) for name in PLANNED}
        request = read_request(
            {
                **JOB,
                "cluster": {**MACHINES, "nic_bandwidth": inputs.nic_bandwidth},
                "world_size": inputs.world_size,
                "global_batch_size": inputs.global_batch_size,
                "training": said,
            }
        ).job
        assert replace(job_of(inputs), cluster=request.cluster) == request


def test_the_page_of_keys_names_every_setting_with_its_default():
    page = Path(__file__).parents[2] / "content" / "reference" / "run-file.md"
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("- ")]
    said = {
        key: line.partition("Left out: ")[2]
        for line in lines
        for key in findall("`(\\w+)`", line.partition(": ")[0])
    }
    assert TRAINING.keys() == said.keys() & TRAINING.keys()
    for key, default in TRAINING.defaults.items():
        word = "needed" if default is ... else str(default).lower() if default is not None else ""
        assert word in said[key], key
