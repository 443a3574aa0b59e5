"""Old files are valid and mean what they meant."""

import pytest

from engine.estimate import estimate
from engine.run.file import read_run
from tests.engine.run.first_version import frozen, kept

FROZEN = frozen()
# Keys that the first version did not have.
SECOND = {
    "model": {"head_size", "attention", "dense_layer_every", "nodes_per_token"},
    "cluster": {"transport", "price_per_hour"},
    "parallelism": {"expert_tensor_parallel", "pipeline_layout"},
    "training": {"gradient_precision", "optimizer", "cuda_graphs", "lora_rank"},
}
STALE = "if a rule changed on purpose: python -m tests.engine.run.first_version"


@pytest.mark.parametrize("one", FROZEN, ids=range(len(FROZEN)))
def test_a_file_of_the_first_version_gives_what_it_gave(one):
    now, before = kept(one["document"]), one["kept"]
    for key in ("printed", "fits", "problems"):
        assert now[key] == before[key], STALE
    for key in ("parameters", "model_operations", "hardware_operations", "tokens"):
        assert now[key] == pytest.approx(before[key], rel=1e-9), STALE
    assert now["memory"] == pytest.approx(before["memory"], rel=1e-6), STALE


@pytest.mark.parametrize("one", FROZEN, ids=range(len(FROZEN)))
def test_its_step_lies_in_the_range_that_is_printed_today(one):
    found = estimate(read_run(one["document"]))
    assert found["step_time_low"] <= one["kept"]["step_time"] <= found["step_time_high"], STALE


def test_the_files_are_of_the_first_version_and_differ():
    documents = [one["document"] for one in FROZEN]
    for document in documents:
        for section, keys in SECOND.items():
            given = document[section]
            assert isinstance(given, str) or not keys & given.keys()
    assert {document["training"].get("framework") for document in documents} >= {
        "megatron",
        "fsdp",
        "deepspeed",
    }
    assert any(isinstance(document["model"], str) for document in documents)
    assert any(document["model"].get("num_experts") for document in documents
               if not isinstance(document["model"], str))  # fmt: skip
