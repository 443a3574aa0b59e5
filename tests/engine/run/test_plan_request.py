"""What the planner is asked: every limit, every choice, and the plan that the asker names."""

import pytest

from engine.catalog.constants import KEPT_FREE
from engine.run.document import InputError
from engine.run.plan_request import read_request
from tests.each import each

CLUSTER = {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 50e9}
REQUEST = {
    "model": "llama-3-8b",
    "sequence_length": 8192,
    "cluster": CLUSTER,
    "world_size": 16,
    "global_batch_size": 64,
}
# What is wrong with it is said beside whatever else is, and no plan is looked for.
WRONG = "kept_free: 2; allowed: a number from 0 to less than 1"
KEYS = (
    "model, sequence_length, cluster, world_size, global_batch_size, training, choose, kept_free, "
    "count, tokens, why"
)
AXES = (
    *("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel"),
    "expert_tensor_parallel",
)


def problems(**changed):
    with pytest.raises(InputError) as caught:
        read_request({**REQUEST, **changed})
    return caught.value.problems


def other(**changed):
    """Return what is wrong beside the share kept free."""
    return [problem for problem in problems(kept_free=2, **changed) if problem != WRONG]


@each(
    ("key", "low", "high"),
    [
        ("sequence_length", 1, 1_073_741_824),
        ("world_size", 1, 1_048_576),
        ("global_batch_size", 1, 8_388_608),
        ("count", 1, 1000),
        ("tokens", 0, 10_000_000_000_000_000),
    ],
)
def test_a_number_is_allowed_up_to_its_limits_and_not_beyond(key, low, high):
    assert other(**{key: low}) == other(**{key: high}) == []
    for given in (low - 1, high + 1):
        message = f"{key}: {given}; allowed: a whole number from {low} to {high}"
        assert other(**{key: given}) == [message]


@each("key", ["sequence_length", "world_size", "global_batch_size"])
def test_a_number_that_must_be_there_is_missing(key):
    with pytest.raises(InputError, match=f"^{key}: missing; allowed: a whole number from 1 to "):
        read_request({name: given for name, given in REQUEST.items() if name != key})


@each("given", [0, 0.0, 0.5, 0.999])
def test_a_share_below_one_is_kept_free(given):
    assert read_request({**REQUEST, "kept_free": given}).job.kept_free == given


@each(
    ("given", "shown"), [(1, "1"), (-0.1, "-0.1"), (True, "true"), (False, "false"), ("0", '"0"')]
)
def test_what_is_no_share_below_one_is_not_kept_free(given, shown):
    message = f"kept_free: {shown}; allowed: a number from 0 to less than 1"
    assert problems(kept_free=given) == (message,)


@each("key", AXES)
@each("given", [[1], [1_048_576], [1, 2, 1_048_576]])
def test_sizes_of_an_axis_reach_from_one_to_the_largest(key, given):
    assert other(choose={key: given}) == []


@each("key", AXES)
@each(
    ("given", "shown"),
    [
        ([0], "[0]"),
        ([1_048_577], "[1048577]"),
        ([True], "[true]"),
        ([2.0], "[2.0]"),
        ([1, "2"], '[1, "2"]'),
        ([], "[]"),
        (8, "8"),
    ],
)
def test_a_size_that_no_axis_has_is_refused(key, given, shown):
    message = f"choose.{key}: {shown}; allowed: a list of whole numbers from 1"
    assert other(choose={key: given}) == [message]


@each(
    ("key", "words"),
    [
        ("frameworks", "megatron, fsdp, deepspeed, xla"),
        ("precisions", "bf16, fp16, fp8, fp4"),
        ("recompute", "none, selective, full"),
        ("schedules", "gpipe, 1f1b, interleaved, zb-1p, zb-2p, zbv, v-half, v-min, dualpipe"),
    ],
)
def test_a_choice_of_words_is_a_list_out_of_those_that_there_are(key, words):
    assert other(choose={key: words.split(", ")}) == []
    message = f'choose.{key}: ["modules"]; allowed: a list of different names out of {words}'
    assert other(choose={key: ["modules"]}) == [message]


def test_what_is_no_choice_or_unknown_is_refused_with_all_that_can_be_chosen():
    names = "frameworks, precisions, recompute, schedules, " + ", ".join(AXES)
    assert problems(choose=7) == (f"choose: 7; allowed: an object with {names}",)
    message = f"choose.axes: [1]; unknown key; allowed: {names}"
    assert problems(choose={"axes": [1]}) == (message,)


def test_what_is_no_request_or_has_another_key_is_refused():
    with pytest.raises(InputError, match=r"^request: \[\]; allowed: an object$"):
        read_request([])
    assert problems(plan=1) == (f"plan: 1; unknown key; allowed: {KEYS}",)


@each(
    "key",
    ["micro_batch_size", "global_batch_size", "precision", "recompute", "schedule", "framework"],
)
def test_what_plans_choose_between_is_no_key_of_the_training(key):
    (problem,) = problems(training={key: 1})
    assert problem.startswith(f"training.{key}: 1; unknown key; allowed: flash_attention, ")


def test_what_is_left_out_is_as_a_job_has_it():
    asked = read_request(REQUEST)
    assert (asked.count, asked.tokens, asked.why) == (10, 0, None)
    job, training = asked.job, asked.job.training
    assert (job.world_size, job.kept_free, job.cluster.gpus_per_node) == (16, KEPT_FREE, 8)
    assert (job.frameworks, job.precisions) == (("megatron", "fsdp"), ("bf16",))
    assert (job.recomputes, job.schedules) == (("none", "selective", "full"), ())
    assert [getattr(job, axis) for axis in AXES] == [()] * 5
    sizes = (training.micro_batch_size, training.global_batch_size, training.sequence_length)
    assert sizes == (1, 64, 8192)


def test_what_is_chosen_reaches_the_job():
    chosen = {"frameworks": ["fsdp"], "precisions": ["fp8"], "recompute": ["full"]}
    more = {"schedules": ["zbv"], "tensor_parallel": [1, 2], "pipeline_parallel": [1]}
    choose = {**chosen, **more, "context_parallel": [2], "expert_parallel": [1]}
    asked = read_request({**REQUEST, "count": 3, "tokens": 5, "choose": choose})
    job = asked.job
    assert (asked.count, asked.tokens) == (3, 5)
    assert (job.frameworks, job.precisions, job.recomputes) == (("fsdp",), ("fp8",), ("full",))
    assert job.schedules == ("zbv",)
    assert [getattr(job, axis) for axis in AXES] == [(1, 2), (1,), (2,), (1,), ()]


@each(("gpu", "scales"), [("H100-SXM", False), ("B200", True), ("MI355X", False)])
def test_only_blackwell_reads_blocks_with_scales(gpu, scales):
    asked = read_request({**REQUEST, "cluster": {**CLUSTER, "gpu": gpu}})
    assert asked.job.training.block_scales is scales


def test_a_batch_that_no_plan_divides_is_refused():
    (problem,) = problems(global_batch_size=7, choose={axis: [1] for axis in AXES})
    allowed = "GPUs over which a global batch of 7 sequences divides, with the choices given"
    assert problem == f"world_size: 16; allowed: {allowed}"


def test_a_plan_that_is_named_takes_what_it_does_not_say_from_the_request():
    choose = {"frameworks": ["fsdp", "xla"], "precisions": ["fp8", "bf16"]}
    held = {"optimizer": "muon", "compiled": False}
    why = {"tensor_parallel": 2, "micro_batch_size": 4, "compiled": True}
    run = read_request({**REQUEST, "choose": choose, "training": held, "why": why}).why
    assert (run.plan.world_size, run.plan.tensor_parallel, run.plan.zero_stage) == (16, 2, 1)
    told = run.training
    assert (told.micro_batch_size, told.global_batch_size, told.sequence_length) == (4, 64, 8192)
    assert (told.framework, told.precision) == ("fsdp", "fp8")
    assert (told.optimizer, told.compiled) == ("muon", True)
    plain = read_request({**REQUEST, "why": {}}).why
    assert (plain.training.micro_batch_size, plain.training.framework) == (1, "megatron")


def test_a_named_plan_may_have_a_cut_by_hand_and_another_batch():
    why = {"pipeline_parallel": 2, "pipeline_layout": [15, 17], "global_batch_size": 8}
    run = read_request({**REQUEST, "why": why}).why
    assert (run.plan.stage_layers, run.training.global_batch_size) == ((15, 17), 8)


def test_a_named_plan_that_is_none_is_refused():
    (problem,) = problems(why=4)
    assert problem == "why: 4; allowed: an object with keys of a run file's plan"
    (problem,) = problems(why={"stages": 2})
    assert problem.startswith("why.stages: 2; unknown key; allowed: world_size, tensor_parallel, ")
    (problem,) = problems(why={"tensor_parallel": 0})
    assert problem.startswith("parallelism.tensor_parallel: 0; allowed: a whole number from 1 ")
