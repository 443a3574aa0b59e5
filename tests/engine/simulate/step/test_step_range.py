"""The range of a predicted step, and what widens it, told in words."""

import math

import pytest

from engine.catalog.constants import GUESS_ERROR
from engine.catalog.unseen_errors import CLASSES, REACH
from engine.formulas.parameters import matrix_parameters
from engine.run.file import read_run
from engine.simulate.step.step_range import (
    EXTRAPOLATION_FACTOR,
    SLOWEST_PORTS,
    layer_at_peak,
    ports_over_products,
    prediction_spread,
    step_range,
)
from engine.simulate.step.step_time import step_time
from tests.engine.run.test_run_file import GOOD
from tests.validation.any_run import changed
from tests.validation.audited import audited_runs
from tests.validation.published import DATA
from tests.validation.rows import cases

DENSE, SPARSE = GOOD, {**GOOD, "model": "mixtral-8x7b"}


def found(document, section="training", **keys):
    return prediction_spread(read_run(changed(document, section, **keys)))


def test_a_run_like_those_of_the_fit_has_the_range_of_its_class():
    name = "dense models in 16 bits with Megatron on H100"
    runs, low, high = CLASSES[name]
    own = prediction_spread(read_run(DENSE))
    assert (own.name, own.runs, own.beyond) == (name, runs, ())
    assert (own.low, own.high) == pytest.approx((math.exp(-high), math.exp(-low)))


def test_the_ends_of_a_range_stand_on_both_sides_of_the_step():
    low, high, _ = step_range(read_run(DENSE), 2.0)
    assert low < 2.0 < high


# What goes beyond the fit: (document, section, keys, what is said).
BEYOND = [
    (DENSE, "parallelism", {"world_size": 4096, "tensor_parallel": 64}, "3,072 GPUs"),
    (SPARSE, "parallelism", {"world_size": 4096, "tensor_parallel": 64}, "2,048 GPUs"),
    (DENSE, "cluster", {"gpu": "MI300X"}, "No run on Instinct MI300X"),
    (DENSE, "cluster", {"gpu": "VR200"}, "No run on VR200"),
    (SPARSE, "training", {"precision": "fp4"}, "mixtures of experts in fp4 with Megatron"),
    (SPARSE, "training", {"framework": "fsdp"}, "mixtures of experts in 16 bits with FSDP"),
    (DENSE, "training", {"compiled": False}, "dense models in 16 bits with eager Megatron"),
    (DENSE, "training", {"framework": "xla"}, "with XLA"),
    (DENSE, "training", {"optimizer": "muon"}, "the optimizer Muon"),
    (DENSE, "training", {"lora_rank": 16}, "adapters of dense models in 16 bits with Megatron"),
    (SPARSE, "training", {"even_routing": False}, "left to itself"),
    ({**DENSE, "model": "kimi-k2"}, "training", {}, "more than 256 experts"),
]


def test_gathers_over_more_ranks_than_were_measured_are_told():
    document = changed(DENSE, "training", global_batch_size=2048)
    few = found(document, "parallelism", world_size=512)
    many = found(document, "parallelism", world_size=2048)
    assert few.beyond == ()
    assert [one for one in many.beyond if "over 256 ranks at most" in one]


@pytest.mark.parametrize(("document", "section", "keys", "said"), BEYOND)
def test_what_lies_beyond_the_fit_is_told_and_widens_the_range(document, section, keys, said):
    if keys.get("tensor_parallel") == 64:
        document = {**document, "model": "gpt-530b" if document is DENSE else "mixtral-8x7b"}
        keys = {**keys, "tensor_parallel": 32}
        document = changed(document, "training", global_batch_size=128)
    one = found(document, section, **keys)
    assert any(said in sentence for sentence in one.beyond), one.beyond
    _, low, high = CLASSES[one.name]
    wider = (EXTRAPOLATION_FACTOR ** len(one.beyond) - 1) * (high - low) / 2
    if "VR200" in said:  # nothing was measured on it
        wider += math.log(GUESS_ERROR)
    assert math.log(one.high) == pytest.approx(-low + wider)
    assert math.log(one.low) == pytest.approx(-high - wider)


@pytest.mark.parametrize(("document", "kind"), [(DENSE, 0), (SPARSE, 1)])
def test_a_longer_sequence_than_any_of_its_kind_is_told(document, kind):
    longest = list(REACH.values())[kind][1]
    within = prediction_spread(read_run({**document, "sequence_length": longest}))
    longer = prediction_spread(read_run({**document, "sequence_length": 2 * longest}))
    assert within.beyond == ()
    assert f"{longest:,} tokens" in longer.beyond[0]


def test_each_halving_of_the_shortest_layer_widens_the_range_like_a_thing_that_no_run_has():
    shortest = REACH["dense models"][3]
    run = read_run(DENSE)
    tokens = run.training.sequence_length * run.training.micro_batch_size
    length = int(tokens * shortest / layer_at_peak(run) / 3)  # two halvings, rounded up
    one = found({**DENSE, "sequence_length": length // 64 * 64})
    assert len(one.beyond) == 1
    assert "at the peak of the GPU" in one.beyond[0]
    _, low, high = CLASSES[one.name]
    wider = (EXTRAPOLATION_FACTOR**2 - 1) * (high - low) / 2
    assert math.log(one.high) == pytest.approx(-low + wider)


def test_a_layer_at_the_peak_by_hand():
    run = read_run(DENSE)
    tokens = run.training.micro_batch_size * run.training.sequence_length
    weights = matrix_parameters(run.model) / run.model.num_layers / run.plan.tensor_parallel
    assert layer_at_peak(run) == pytest.approx(6 * tokens * weights / run.cluster.gpu.peak["bf16"])


def test_no_run_of_the_fit_waits_longer_for_its_ports_and_one_that_does_is_told():
    most = max(ports_over_products(case.run) for case in cases(DATA)[0])
    assert 0.9 * SLOWEST_PORTS < most < SLOWEST_PORTS
    slow = changed(DENSE, "parallelism", world_size=64, tensor_parallel=1, zero_stage=3)
    slow = changed(slow, "training", framework="fsdp", global_batch_size=64)
    slow = changed(slow, "cluster", nic_bandwidth=3e9)
    assert any("times as long as products" in said for said in found(slow).beyond)


def test_four_in_five_audited_steps_beyond_the_fit_lie_in_their_range():
    beyond = within = 0
    for case in audited_runs():
        run = case.run
        step = step_time(run.model, run.cluster, run.plan, run.training).total
        low, high, spread = step_range(run, step)
        beyond += bool(spread.beyond)
        within += bool(spread.beyond) and low <= case.time <= high
    assert (within, beyond) == (24, 29)
