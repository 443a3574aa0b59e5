"""JSON Schema of run files and requests: the keys, kinds and defaults by which they are read."""

import json
from dataclasses import fields

import pytest

from engine.__main__ import main
from engine.catalog.recent_models import EVERY_MODEL
from engine.run import own_gpu
from engine.run.file import InputError, read_run
from engine.run.keys import CLUSTER, GPU, MODEL, PLAN, TRAINING
from engine.run.layer_keys import LAYERS
from engine.run.parallelism import Training
from engine.run.plan_request import read_request
from engine.run.schema import SCHEMAS, request_help, request_schema, run_schema
from tests.engine.run.test_run_file import GOOD

REQUEST = {
    "model": "llama-3-8b",
    "sequence_length": 8192,
    "cluster": {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 5e10},
    "world_size": 64,
    "global_batch_size": 512,
    "training": {"lora_rank": 16},
    "choose": {"frameworks": ["fsdp"], "tensor_parallel": [1, 2]},
    "why": {"tensor_parallel": 2, "recompute": ["mlp"], "micro_batch_size": 2},
    "tokens": 10**12,
}
OWN = {"peak": {"bf16": 4e14}, "memory": 6.4e10, "memory_bandwidth": 1.6e12, "scale_up": 0}


def fits(value, schema):
    """Whether a value is what a schema allows, of the words that these schemas have."""
    if "anyOf" in schema and not any(fits(value, one) for one in schema["anyOf"]):
        return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if not set(schema.get("required", ())) <= set(value if "required" in schema else ()):
        return False
    return FITS[schema.get("type", "")](value, schema)


def fits_object(value, schema):
    known = schema.get("properties", {})
    if not isinstance(value, dict):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= known.keys():
        return False
    return all(fits(value[key], known[key]) for key in value.keys() & known.keys())


def fits_array(value, schema):
    fine = isinstance(value, list) and len(value) >= schema.get("minItems", 0)
    return fine and all(fits(one, schema["items"]) for one in value)


def fits_number(value, schema):
    whole = schema["type"] == "integer"
    if type(value) not in ((int,) if whole else (int, float)):
        return False
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    return low <= value <= high and value > schema.get("exclusiveMinimum", value - 1)


FITS = {
    "": lambda value, schema: True,
    "object": fits_object,
    "array": fits_array,
    "integer": fits_number,
    "number": fits_number,
    "boolean": lambda value, schema: isinstance(value, bool),
    "string": lambda value, schema: isinstance(value, str),
}


@pytest.mark.parametrize(
    "document",
    [
        GOOD,
        {**GOOD, "model": "qwen3.5-9b"},
        {**GOOD, "cluster": {**GOOD["cluster"], "gpu": OWN}},
        {**GOOD, "cluster": {**GOOD["cluster"], "gpu": {"like": "H100-SXM", "memory": 9.6e10}}},
        {**GOOD, "training": {**GOOD["training"], "recompute": ["mlp", "core_attn"]}},
    ],
)
def test_what_is_read_is_what_the_schema_allows(document):
    assert read_run(document)
    assert fits(document, run_schema())


@pytest.mark.parametrize(
    "document",
    [
        {**GOOD, "modle": 1},
        {**GOOD, "model": "llama-9"},
        {**GOOD, "sequence_length": 0},
        {**GOOD, "cluster": {**GOOD["cluster"], "gpu": {**OWN, "memory": 64}}},
        {**GOOD, "training": {**GOOD["training"], "recompute": ["all"]}},
        {key: GOOD[key] for key in GOOD if key != "cluster"},
    ],
)
def test_what_is_refused_is_no_value_of_the_schema(document):
    with pytest.raises(InputError):
        read_run(document)
    assert not fits(document, run_schema())


def test_a_request_that_is_read_is_one_of_the_schema():
    assert read_request(REQUEST).job.world_size == 64
    assert fits(REQUEST, request_schema())
    assert not fits({**REQUEST, "worldsize": 8}, request_schema())


def test_every_key_of_the_readers_is_in_the_schema_with_its_default():
    sections = run_schema()["properties"]
    sizes = sections["model"]["anyOf"][1]["properties"]
    gpu = sections["cluster"]["properties"]["gpu"]["anyOf"]
    for spec, keys in (
        (MODEL, sizes),
        (LAYERS, sizes["layers"]["properties"]),
        (CLUSTER, sections["cluster"]["properties"]),
        (PLAN, sections["parallelism"]["properties"]),
        (TRAINING, sections["training"]["properties"]),
        (GPU, gpu[1]["properties"]),
    ):
        assert spec.keys() <= keys.keys()
        for key, default in spec.defaults.items():
            assert keys[key]["description"], key
            if default not in (..., None, ""):
                assert keys[key]["default"] == default, key
    assert gpu[2]["properties"].keys() == set(own_gpu.KEYS)
    assert sections["model"]["anyOf"][0]["enum"] == list(EVERY_MODEL)


def test_the_help_of_the_planner_says_every_key_of_a_request():
    told = request_help()
    for key in (*request_schema()["properties"], *MODEL, *CLUSTER, *own_gpu.KEYS):
        assert f"\n  {key} " in told, key
    changed_by_plans = {"micro_batch_size", "global_batch_size", "precision", "recompute"}
    for key in TRAINING.keys() - changed_by_plans - {"schedule", "framework"}:
        assert f"\n  {key} " in told, key
    assert "[bytes/s]" in told
    assert all(line == line.rstrip() and len(line) <= 98 for line in told.splitlines())


def test_what_a_key_says_is_the_attribute_of_its_record():
    said = run_schema()["properties"]["training"]["properties"]
    assert said["compiled"]["description"] == "element-wise kernels are fused"
    assert TRAINING.keys() <= {field.name for field in fields(Training)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_printed(name, capsys):
    assert main(["schema", name]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(SCHEMAS[name]()))


def test_a_schema_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        main(["schema", "plan"])
    assert left.value.code == 2
    assert "schema run|request" in capsys.readouterr().err


def test_help_of_the_planner_is_printed(capsys):
    with pytest.raises(SystemExit) as left:
        main(["plan", "--help"])
    assert left.value.code == 0
    assert request_help() in capsys.readouterr().out


@pytest.mark.parametrize("own", [False, True])
def test_a_text_with_a_unit_is_read_and_allowed_by_the_schema(own):
    gpu = {**OWN, "memory": "64 GB", "scale_up": "300 GB/s"} if own else {"like": "H100-SXM"}
    cluster = {**GOOD["cluster"], "gpu": gpu, "nic_bandwidth": "400 Gb/s"}
    run = {**GOOD, "cluster": cluster}
    assert fits(run, run_schema())
    assert read_run(run).cluster.nic_bandwidth == 50e9
    assert read_run(run).cluster.gpu.memory == (64e9 if own else read_gpu_memory())
    request = {**REQUEST, "tokens": "1T"}
    assert fits(request, request_schema())
    assert read_request(request).tokens == 10**12


def read_gpu_memory():
    return read_run(GOOD | {"cluster": {**GOOD["cluster"], "gpu": "H100-SXM"}}).cluster.gpu.memory
