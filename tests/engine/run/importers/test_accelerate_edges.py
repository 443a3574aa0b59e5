"""The YAML of accelerate: what every key says, and what follows from several, at the limits."""

from engine.run.importers.accelerate import finish_accelerate, import_accelerate
from engine.run.importers.import_report import OFFLOADED, RunDraft, Setting
from engine.run.importers.unknown_keys import UNKNOWN
from tests.each import each

SINGLE = "training in single precision is not predicted here: bf16 is taken"
STAGE, WORLD = "parallelism.zero_stage", "parallelism.world_size"


def taken(take, *pairs):
    draft = RunDraft()
    take([Setting(key=key, value=value, line=3) for key, value in pairs], draft)
    return draft


def told(draft):
    return [(one.kind, one.meaning) for one in draft.entries]


FSDP, SIZES = "fsdp_config.fsdp_", "parallelism_config.parallelism_config_"


@each(
    "key, value, path, found",
    [
        (f"{FSDP}reshard_after_forward", True, STAGE, 3),
        (f"{FSDP}reshard_after_forward", "FULL_SHARD", STAGE, 3),
        (f"{FSDP}reshard_after_forward", False, STAGE, 2),
        (f"{FSDP}sharding_strategy", "FULL_SHARD", STAGE, 3),
        (f"{FSDP}sharding_strategy", "shard_grad_op", STAGE, 2),
        (f"{FSDP}sharding_strategy", "NO_SHARD", STAGE, 0),
        (f"{FSDP}sharding_strategy", "HYBRID_SHARD", STAGE, 3),
        (f"{FSDP}sharding_strategy", 1, STAGE, 3),
        (f"{FSDP}sharding_strategy", 2, STAGE, 2),
        ("fsdp_config.sharding_strategy", "FULL_SHARD", STAGE, 3),
        (f"{FSDP}activation_checkpointing", True, "training.recompute", "full"),
        (f"{FSDP}activation_checkpointing", False, "training.recompute", "none"),
        ("dynamo_config.dynamo_backend", "INDUCTOR", "training.compiled", True),
        ("dynamo_config.dynamo_backend", "no", "training.compiled", False),
        ("mixed_precision", "fp16", "training.precision", "fp16"),
        ("mixed_precision", "fp8", "training.precision", "fp8"),
        ("mixed_precision", "bf16", "training.precision", "bf16"),
        ("deepspeed_config.zero_stage", 2, STAGE, 2),
        ("num_processes", 16, WORLD, 16),
        (f"{SIZES}tp_size", 2, "parallelism.tensor_parallel", 2),
        (f"{SIZES}cp_size", 2, "parallelism.context_parallel", 2),
    ],
)
def test_a_key_of_accelerate_says_what_it_does(key, value, path, found):
    draft = taken(import_accelerate, (key, value))
    assert (draft.values[path], type(draft.values[path])) == (found, type(found))
    assert draft.values["training.framework"] == "fsdp"
    assert [one.kind for one in draft.entries] == ["understood"]


@each(
    "key, value, kind, meaning",
    [
        ("mixed_precision", "no", "not modeled", SINGLE),
        ("num_processes", "many", "not known", "many is no whole number"),
        ("fsdp_config", "{}", "without effect", "empty"),
        (f"{FSDP}offload_params", True, "not modeled", OFFLOADED),
        (f"{FSDP}offload_params", False, "understood", "off"),
        (f"{FSDP}auto_wrap_policy", "NO_WRAP", "not modeled",
         "the whole model is gathered at once; a layer at a time is shown"),
        (f"{FSDP}auto_wrap_policy", "TRANSFORMER_BASED_WRAP", "understood", "a layer is one unit"),
        ("deepspeed_config.offload_param_device", "nvme", "not modeled", OFFLOADED),
        ("deepspeed_config.offload_param_device", "none", "without effect",
         "where offloaded states lie"),
        (f"{FSDP}version", 2, "without effect", "both versions are predicted alike"),
        ("debug", False, "without effect", "a switch for finding faults"),
        ("unknown", 1, "not known", UNKNOWN),
    ],
)  # fmt: skip
def test_a_key_of_accelerate_that_is_not_taken_is_told_why(key, value, kind, meaning):
    expected = [(kind, meaning)]
    assert told(taken(import_accelerate, (key, value))) == expected


@each("kind", ["NO", "MULTI_GPU"])
def test_where_every_process_holds_the_model_nothing_is_sharded(kind):
    keys = (("distributed_type", kind), (f"{FSDP}sharding_strategy", "FULL_SHARD"))
    draft = taken(import_accelerate, *keys)
    assert draft.values == {"training.framework": "fsdp", STAGE: 0}
    assert told(draft)[1] == ("without effect", f"distributed_type is {kind}")


def test_accelerate_starts_deepspeed():
    draft = taken(import_accelerate, ("distributed_type", "DEEPSPEED"), ("debug", False))
    assert draft.values == {"training.framework": "deepspeed"}


def test_degrees_of_accelerate_are_noted():
    keys = ((f"{SIZES}dp_shard_size", 4), (f"{SIZES}dp_replicate_size", 0), (f"{SIZES}sp_size", 2))
    notes = {"sizes": True, "dp_shard_size": 4, "dp_replicate_size": None, "sp_size": 2}
    assert taken(import_accelerate, *keys).notes == notes
    steps = ("deepspeed_config.gradient_accumulation_steps", 4)
    assert taken(import_accelerate, steps).notes == {"gradient_accumulation_steps": 4}


GROUP, BATCH = "parallelism.shard_group", "training.global_batch_size"


@each(
    "world, tensor, context, notes, found",
    [
        (None, 1, 1, {}, {WORLD: 8, BATCH: 8, GROUP: None, STAGE: 3}),
        (16, 2, 1, {}, {BATCH: 8, GROUP: None}),
        (16, 2, 2, {"gradient_accumulation_steps": 3}, {BATCH: 12}),
        (16, 1, 1, {"dp_replicate_size": 2}, {GROUP: 8, BATCH: 16}),
        (16, 1, 2, {"dp_replicate_size": 2}, {GROUP: 8, BATCH: 8}),
        (16, 1, 1, {"dp_replicate_size": 2, "dp_shard_size": 8, "sizes": True}, {GROUP: 8}),
        (16, 1, 1, {"dp_replicate_size": 1, "dp_shard_size": 16, "sizes": True}, {GROUP: None}),
        (16, 1, 1, {"sp_size": 4}, {"parallelism.context_parallel": 4, BATCH: 4}),
        (16, 1, 1, {"sp_size": 2}, {"parallelism.context_parallel": 2, BATCH: 8}),
        (1, 1, 1, {}, {BATCH: 1}),
        (2, 1, 1, {"dp_replicate_size": 2}, {GROUP: 1, BATCH: 2}),
        (16, 1, 1, {"sp_size": 1}, {"parallelism.context_parallel": 1, BATCH: 16}),
    ],
)
def test_sharding_and_batch_of_accelerate_follow(world, tensor, context, notes, found):
    sizes = {"parallelism.tensor_parallel": tensor, "parallelism.context_parallel": context}
    draft = RunDraft(values=sizes | ({} if world is None else {WORLD: world}), notes=notes)
    finish_accelerate(draft)
    assert draft.contradictions == []
    assert {path: draft.values.get(path) for path in found} == found
    rest = {"training.micro_batch_size": 1, "training.compiled": False, STAGE: 3,
            "training.precision": "bf16", "parallelism.sequence_parallel": False}  # fmt: skip
    assert draft.values | rest == draft.values


@each(
    "world, notes, total",
    [
        (15, {"dp_replicate_size": 2}, 2),
        (16, {"sizes": True}, 1),
        (16, {"sizes": True, "dp_shard_size": 8}, 8),
        (16, {"sizes": True, "dp_shard_size": 8, "dp_replicate_size": 4}, 32),
    ],
)
def test_degrees_of_accelerate_make_all_processes(world, notes, total):
    draft = RunDraft(values={WORLD: world}, notes=notes)
    finish_accelerate(draft)
    (said,) = draft.contradictions
    start = f"ParallelismConfig total_size ({total}) does not match num_processes ({world})."
    assert said.startswith(start)
    assert BATCH not in draft.values


def test_a_sequence_is_split_in_one_way():
    draft = RunDraft(values={WORLD: 16, "parallelism.context_parallel": 2}, notes={"sp_size": 2})
    finish_accelerate(draft)
    assert draft.contradictions == [
        "Context Parallelism (CP) and Sequence Parallelism (SP) are mutually exclusive. Got "
        "cp_size=2 and sp_size=2. Please set either cp_size=1 or sp_size=1."
    ]


def test_hybrid_shards_lie_in_a_node():
    keys = (("num_processes", 16), (f"{FSDP}sharding_strategy", "HYBRID_SHARD"))
    draft = taken(import_accelerate, *keys)
    finish_accelerate(draft)
    assert draft.values["parallelism.shard_group"] == 8


def test_megatron_under_accelerate_is_refused():
    draft = taken(import_accelerate, ("distributed_type", "MEGATRON_LM"))
    assert draft.contradictions == [
        "distributed_type is MEGATRON_LM: of accelerate, FSDP and DeepSpeed are read"
    ]
