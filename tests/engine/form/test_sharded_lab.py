"""The names of the spans of the sharded labs."""

from engine.form.sharded.lab import unit_label
from engine.simulate.data_parallel.sharded_step import ShardedSetting, simulate_sharded_step
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
