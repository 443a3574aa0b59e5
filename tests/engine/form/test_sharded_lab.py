"""The names of the spans of the sharded labs."""

from dataclasses import replace

from engine.form.sharded.lab import fit_badge, unit_label
from engine.simulate.data_parallel.sharded_step import ShardedSetting, simulate_sharded_step
from engine.simulate.memory.allocator import OUTSIDE
from tests.each import each

BUCKETS = {"zero_stage": 2, "framework": "deepspeed"}
JOB = {"model": "llama-3-8b", "gpu": "h100", "ranks": 64, "tokens": 4096, "port": 50e9}


@each(
    ("changes", "label", "expected"),
    [
        ({}, "forward, layer 3", "forward, layer 3"),
        ({}, "forward, layer 33", "forward, embedding and output layer"),
        ({"unit": 8}, "forward, layer 1", "forward, layers 1\N{EN DASH}8"),
        ({"unit": 8}, "forward, layer 3", "forward, layers 17\N{EN DASH}24"),
        ({"unit": 32}, "forward, layer 1", "forward, the whole model"),
        (
            {"zero_stage": 2, "framework": "deepspeed"},
            "backward, layer 2",
            "backward, bucket 2 of 17",
        ),
        ({}, "optimizer", "optimizer"),
        ({}, "after layer x", "after layer x"),
    ],
)
def test_a_unit_is_called_by_what_it_is(changes, label, expected):
    step = simulate_sharded_step(ShardedSetting(**{**JOB, **changes}))
    assert unit_label(label, step) == expected


@each("over, verdict, text", [
    (-1.0, "fits", "The states fit"),
    (1e9, "tight", "The states are tight"),
    (1e10, "does not fit", "The states do not fit"),
])  # fmt: skip
def test_the_verdict_on_states_has_three_values(over, verdict, text):
    setting = ShardedSetting(model="llama-3-8b", gpu="h100", ranks=64, tokens=4096, port=50e9)
    step = simulate_sharded_step(setting)
    full = replace(step, peak=step.capacity - OUTSIDE + over)
    assert full.fit.verdict == verdict
    assert fit_badge(None, full).text == text
