"""Every published run is a run file that a reader can write, with the step time of its row."""

import json

from engine.catalog.models import MODELS
from engine.estimate import estimate
from engine.run.document import read_document
from engine.run.file import read_run
from engine.run.model_keys import model_keys
from engine.simulate.step.step_time import step_time
from tests.validation.published import DATA
from tests.validation.rows import cases

RUNS = cases(DATA)[0]


def test_the_file_of_every_published_run_is_the_run():
    for case in RUNS:
        written = json.loads(json.dumps(case.document))
        assert read_run(written) == case.run, case.row["row_id"]


def test_the_terminal_says_the_step_time_of_a_row():
    for case in RUNS[::40]:
        run, said = case.run, estimate(read_run(json.loads(json.dumps(case.document))))
        step = step_time(run.model, run.cluster, run.plan, run.training)
        assert said["step_time"] == step.total


def test_settings_of_recipes_stand_in_the_files():
    said = [case.document["training"] for case in RUNS]
    for key in (
        *("overlap_expert_parallel", "cuda_graphs", "fused_experts", "eager_loss"),
        *("keeps_quantized_products", "fused_norms", "exchange"),
    ):
        assert any(training.get(key, "auto") not in (False, "auto") for training in said), key


def test_the_keys_of_a_model_are_the_model():
    job = RUNS[0].document
    for name, model in MODELS.items():
        written = read_document({**job, "model": model_keys(model)}).model
        read = [key for key in model_keys(model) if getattr(written, key) != getattr(model, key)]
        assert not read, name
