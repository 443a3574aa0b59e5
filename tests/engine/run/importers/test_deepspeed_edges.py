"""The JSON of DeepSpeed: what every key says, and what follows from several, at the limits."""

from engine.run.importers.deepspeed import finish_deepspeed, import_deepspeed
from engine.run.importers.import_report import OFFLOADED, RunDraft, Setting
from engine.run.importers.unknown_keys import UNKNOWN
from tests.each import each

STAGE, WORLD = "parallelism.zero_stage", "parallelism.world_size"
MICRO, BATCH = "training.micro_batch_size", "training.global_batch_size"


def taken(key, value):
    draft = RunDraft()
    import_deepspeed([Setting(key=key, value=value, line=3)], draft)
    return draft


def told(draft):
    return [(one.kind, one.meaning) for one in draft.entries]


@each(
    "key, value, path, found",
    [
        ("zero_optimization.stage", 0, STAGE, 0),
        ("zero_optimization.stage", 3, STAGE, 3),
        ("bf16.enabled", True, "training.precision", "bf16"),
        ("fp16.enabled", True, "training.precision", "fp16"),
        ("tensor_parallel.autotp_size", 4, "parallelism.tensor_parallel", 4),
        ("tensor_parallel.autotp_size", 0, "parallelism.tensor_parallel", 1),
        ("expert_parallel.autoep_size", 4, "parallelism.expert_parallel", 4),
        ("data_types.grad_accum_dtype", "fp32", "training.gradient_precision", "fp32"),
        ("zero_optimization.overlap_comm", True, "training.overlap_gradient_reduce", True),
        ("zero_optimization.overlap_comm", False, "training.overlap_gradient_reduce", False),
        ("optimizer.type", "AdamW", "training.optimizer", "adam"),
        ("optimizer.type", "SGD", "training.optimizer", "sgd"),
        ("optimizer.type", "Muon", "training.optimizer", "muon"),
    ],
)
def test_a_key_of_deepspeed_says_what_it_does(key, value, path, found):
    draft = taken(key, value)
    assert draft.values == {"training.framework": "deepspeed", path: found}
    assert type(draft.values[path]) is type(found)
    assert draft.contradictions == []


@each(
    "key, value, kind, meaning",
    [
        ("zero_optimization.stage", "auto", "assumed",
         'as if it were not there: "auto" is filled in by the script'),
        ("fp16.enabled", False, "understood", "off"),
        ("train_batch_size", 8, "understood", "worked into what is derived below"),
        ("data_types.grad_accum_dtype", "fp8", "not modeled", "taken as the precision is"),
        ("zero_optimization.offload_param.device", "cpu", "not modeled", OFFLOADED),
        ("zero_optimization.offload_param.device", "none", "understood", "off"),
        ("zero_optimization.offload_param.pin_memory", True, "without effect",
         "where offloaded states lie"),
        ("other.device", "cpu", "not known", UNKNOWN),
        ("gradient_clipping", 1.0, "without effect",
         "a number of the optimizer or of its schedule"),
        ("zero_optimization.zero_quantized_weights", True, "not modeled",
         "ZeRO++: fewer bits in an exchange"),
        ("unknown", 1, "not known", UNKNOWN),
    ],
)  # fmt: skip
def test_a_key_of_deepspeed_that_is_not_taken_is_told_why(key, value, kind, meaning):
    draft = taken(key, value)
    assert told(draft) == [(kind, meaning)]
    assert draft.values == {"training.framework": "deepspeed"}


@each("value", [-1, 4, "x", 1.5])
def test_there_are_stages_from_0_to_3(value):
    draft = taken("zero_optimization.stage", value)
    assert draft.contradictions == [
        f"line 3: zero_optimization.stage is {value}; allowed is 0 to 3"
    ]
    assert told(draft) == [("not known", "no stage of ZeRO; allowed is 0 to 3")]


TOTAL, EACH, STEPS = (
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
)
TENSOR = "parallelism.tensor_parallel"


@each(
    "values, notes, found",
    [
        ({}, {}, {WORLD: 8, MICRO: 1, BATCH: 8}),
        ({TENSOR: 2}, {}, {WORLD: 16, MICRO: 1, BATCH: 8}),
        ({TENSOR: 2, "parallelism.context_parallel": 3}, {}, {WORLD: 48, MICRO: 1, BATCH: 8}),
        ({}, {TOTAL: 64, EACH: 2}, {WORLD: 32, MICRO: 2, BATCH: 64}),
        ({}, {TOTAL: 64, EACH: 2, STEPS: 4}, {WORLD: 8, MICRO: 2, BATCH: 64}),
        ({TENSOR: 2}, {TOTAL: 64, EACH: 2, STEPS: 4}, {WORLD: 16, MICRO: 2, BATCH: 64}),
        ({}, {TOTAL: 1, EACH: 2}, {WORLD: 1, MICRO: 2, BATCH: 1}),
        ({}, {EACH: 2, STEPS: 4}, {WORLD: 8, MICRO: 2, BATCH: 64}),
        ({}, {EACH: 2}, {WORLD: 8, MICRO: 2, BATCH: 16}),
        ({}, {TOTAL: 64}, {WORLD: 8, MICRO: 8, BATCH: 64}),
        ({}, {TOTAL: 64, STEPS: 4}, {WORLD: 8, MICRO: 2, BATCH: 64}),
        ({}, {TOTAL: 4}, {WORLD: 8, MICRO: 1, BATCH: 4}),
        ({}, {STEPS: 4}, {WORLD: 8, MICRO: 1, BATCH: 32}),
        ({WORLD: 4}, {EACH: 2}, {WORLD: 4, MICRO: 2, BATCH: 8}),
        ({WORLD: 1, TENSOR: 2}, {}, {WORLD: 1, MICRO: 1, BATCH: 1}),
        ({}, {"per_node": 8, "nodes": 2}, {WORLD: 16, MICRO: 1, BATCH: 16}),
        ({}, {"per_node": 4}, {WORLD: 4, MICRO: 1, BATCH: 4}),
    ],
)
def test_ranks_and_batch_of_deepspeed_follow(values, notes, found):
    draft = RunDraft(values=dict(values), notes=notes)
    finish_deepspeed(draft)
    assert draft.contradictions == []
    assert {path: draft.values[path] for path in found} == found
    assert (draft.values[STAGE], draft.values["parallelism.sequence_parallel"]) == (0, False)


def test_a_batch_that_is_not_the_product_is_refused():
    draft = RunDraft(values={WORLD: 8}, notes={TOTAL: 65, EACH: 2, STEPS: 4})
    finish_deepspeed(draft)
    assert draft.contradictions == [
        "Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * "
        "gradient_acc_step * world_size 65 != 2 * 4 * 8"
    ]


@each("said, group", [(4, 4), (1, 1), (None, None)])
def test_a_group_of_mics_shards(said, group):
    draft = RunDraft(notes={"zero_optimization.mics_shard_size": said})
    finish_deepspeed(draft)
    assert draft.values.get("parallelism.shard_group") == group
