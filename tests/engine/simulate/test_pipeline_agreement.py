"""The closed forms in the predictors of step time and memory, against the played schedules."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.memory.peak_activations import microbatches_in_flight
from engine.simulate.pipeline.pipeline import PipelineTimes, simulate
from engine.simulate.pipeline.pipeline_measures import peak_activations
from engine.simulate.step.step_time import step_time

NAMES = {
    "gpipe": "gpipe",
    "1f1b": "one_f_one_b",
    "interleaved": "interleaved",
    "zb-1p": "zb_h1",
    "zb-2p": "zb_h2",
    "zbv": "zb_v",
    "dualpipe": "dualpipe",
}
# Next to no vocabulary, so that the stages are alike, as they are where schedules are played here.
MODEL = replace(MODELS["llama-3-70b"], vocab_size=8)
NODE = Cluster(gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9)


def predicted(schedule, p, m, v=1):
    """The predicted bubble, and how long a stage works on one micro-batch."""
    plan = Plan(
        world_size=8 * p, tensor_parallel=8, pipeline_parallel=p, virtual_pipeline=v, zero_stage=0
    )
    training = Training(
        micro_batch_size=1, global_batch_size=m, sequence_length=4096, schedule=schedule
    )
    step = step_time(MODEL, NODE, plan, training)
    layers = step.compute + step.tensor_parallel + step.context_parallel + step.expert_parallel
    return step.bubble, layers / m


@pytest.mark.parametrize(("p", "m"), [(2, 8), (4, 8), (4, 32), (8, 16), (8, 64)])
@pytest.mark.parametrize(("schedule", "v"), [("gpipe", 1), ("1f1b", 1), ("interleaved", 5)])
def test_the_predicted_bubble_is_the_played_one(schedule, v, p, m):
    bubble, work = predicted(schedule, p, m, v)
    times = PipelineTimes(
        forward=work / 3, backward_input=work / 3, backward_weight=work / 3, pair=work
    )
    run = simulate(NAMES[schedule], p, m, v, times)
    # The embedding and the output still take a little, and the predictor knows it.
    assert bubble <= run.period - run.busy[0] == pytest.approx(bubble, rel=0.01)


@pytest.mark.parametrize(("p", "m"), [(2, 8), (4, 8), (4, 32), (8, 16), (8, 64)])
@pytest.mark.parametrize("schedule", NAMES)
def test_the_predicted_micro_batches_in_flight_are_the_played_ones(schedule, p, m):
    v = {"interleaved": 4, "zbv": 2, "dualpipe": 2}.get(schedule, 1)
    played = peak_activations(
        simulate(
            NAMES[schedule],
            p,
            m,
            v,
            PipelineTimes(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0),
        )
    )
    parts = 1 if schedule == "dualpipe" else v
    for stage in range(p):
        assert sum(microbatches_in_flight(schedule, p, v, stage, m)) / parts == pytest.approx(
            played[stage]
        )
