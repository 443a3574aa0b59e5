"""The settings of ZeRO and FSDP2: true defaults, the 14 buckets, the small model, the linter."""

import pytest

from engine.answer import reply
from engine.calculator import load, make
from engine.catalog.deepspeed_settings import SETTINGS
from engine.core.views import Table
from engine.estimate import estimate
from engine.form.sharded.knobs import knob_fields, knob_job
from engine.simulate.data_parallel.sharded_step import setting_run
from tests.engine.calculators.asked import solved, views


# DeepSpeed 0.19, deepspeed/runtime/zero/config.py.
@pytest.mark.parametrize(
    ("name", "field", "default"),
    [
        ("reduce_bucket_size", "bucket", 5e8),
        ("allgather_bucket_size", "", 5e8),
        ("stage3_prefetch_bucket_size", "prefetch", 5e7),
        ("stage3_param_persistence_threshold", "persistent", 1e5),
        ("stage3_max_live_parameters", "live", 1e9),
        ("stage3_max_reuse_distance", "reuse", 1e9),
    ],
)
def test_the_defaults_are_those_of_the_code(name, field, default):
    assert float(SETTINGS[name].default) == default
    if field:
        assert load("zero_3_knobs").defaults[field] == default


def test_seven_billion_make_14_buckets_and_a_small_model_one():
    assert solved("bucket_napkin").buckets == 14
    assert solved("bucket_napkin").share == pytest.approx(1 / 14)
    small = solved("bucket_napkin", parameters=3e8)
    assert (small.buckets, small.share) == (1, pytest.approx(1))
    assert views("bucket_napkin", parameters=3e8)["regime"].text == "One bucket, no overlap"


def test_a_small_bucket_lets_a_small_model_overlap():
    assert solved("bucket_napkin", parameters=3e8, bucket=2.5e7).share < 0.15


def test_a_larger_bucket_costs_memory_and_time():
    usual, large = solved("bucket_napkin"), solved("bucket_napkin", bucket=2e9)
    assert large.buffers == 4 * usual.buffers
    assert large.exposed > usual.exposed


def test_the_timeline_ends_with_an_exposed_bucket():
    spans = views("bucket_napkin")["timeline"].spans
    last = max(spans, key=lambda span: span.end)
    assert last.exposed
    assert last.name == "bucket 14, reduction"


def test_the_board_tries_every_setting_of_stage_3():
    board = views("zero_3_knobs")["board"]
    named = {row[0] for row in board.rows}
    assert {name for name in SETTINGS if name.startswith("stage3_max")} < named
    assert {"overlap_comm", "reduce_bucket_size", "stage3_prefetch_bucket_size"} < named


def test_wrapping_only_the_model_hides_nothing_and_holds_everything():
    usual, one = solved("fsdp_knobs"), solved("fsdp_knobs", unit="all")
    assert one.exposed > 10 * usual.exposed
    assert one.buffers > 10 * usual.buffers
    assert one.calls == 2


def test_resharding_to_the_node_spares_the_network():
    slow = 12.5e9
    usual = solved("fsdp_knobs", port=slow)
    inside = solved("fsdp_knobs", port=slow, reshard="node")
    kept = solved("fsdp_knobs", port=slow, reshard="false")
    assert inside.exposed < usual.exposed
    assert usual.buffers < inside.buffers < kept.buffers


@pytest.mark.parametrize(("library", "word"), [("deepspeed", "sub_group_size"), ("fsdp2", "mesh")])
def test_every_setting_stands_with_its_default(library, word):
    table = views("sharding_settings", library=library)["settings"]
    assert isinstance(table, Table)
    assert word in {row[0] for row in table.rows}
    assert all(row[1] and row[2] for row in table.rows)


def test_stages_read_different_settings():
    names = {
        stage: {row[0] for row in views("sharding_settings", stage=stage)["settings"].rows}
        for stage in "123"
    }
    assert "allgather_bucket_size" in names["2"] - names["3"]
    assert "stage3_max_live_parameters" in names["3"] - names["2"]


def test_the_linter_annotates_lines_with_memory_and_warnings():
    rows = {row[1]: row for row in views("deepspeed_linter")["annotated"].rows}
    assert rows["reduce_bucket_size"][0] == "9"
    assert rows["reduce_bucket_size"][5].numbers["m"][0] == 1e9
    assert rows["stage3_max_live_parameters"][3] == "warning"
    assert views("deepspeed_linter")["verdict"].text == "It runs"


def test_limits_of_zero_cost_time():
    shown = solved("deepspeed_linter")
    sound = shown_text().replace(
        '"stage3_max_live_parameters": 0', '"stage3_max_live_parameters": 1e9'
    )
    # Nothing that the modules gather hides: as much is exposed as they compute.
    usual = solved("zero_3_knobs").step.estimate.compute
    assert solved("deepspeed_linter", text=sound).exposed < shown.exposed - 0.8 * usual


def shown_text():
    return load("deepspeed_linter").defaults["text"]


def test_bad_json_is_refused_with_its_place():
    text = shown_text().replace('"stage": 3,', '"stage": 3,,')
    found = reply({"calculator": "deepspeed_linter", "typed": {"text": text}})
    assert "line 6, column 16" in found["inputs"]["text"]["error"]
    assert found["outputs"] is None


@pytest.mark.parametrize("preset", ["", "70B on 128 GPUs"])
def test_settings_at_their_defaults_take_the_step_of_the_estimate(preset):
    given = make(load("zero_3_knobs"), load("zero_3_knobs").presets.get(preset, {}))
    run = setting_run(knob_job(*knob_fields(given)))
    assert run.training.framework == "deepspeed"
    assert load("zero_3_knobs").solve(given).step_time == pytest.approx(
        estimate(run)["step_time"], rel=1e-12
    )


def test_every_preset_s_step_is_that_of_its_parts():
    for preset in load("zero_3_knobs").presets.values():
        found = solved("zero_3_knobs", **preset)
        rest = found.step.estimate.compute + found.closing
        assert found.step_time == pytest.approx(rest + found.exposed)
