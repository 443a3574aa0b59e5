"""Every argument of Megatron-LM that a run file has a key for, and what stands there then.

Meanings: megatron-core 0.19.2, `megatron/training/arguments.py`.
"""

from engine.run.importers.assemble import import_run
from engine.run.importers.megatron import COUNTS, SWITCHES
from tests.each import each

JOB = """
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \\
 --num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --micro-batch-size 1 \\
 --global-batch-size 64
"""
MIXTURE = "--num-experts 8 --moe-router-topk 2"
LATENT = "--multi-latent-attention"


def after(flags, job=JOB):
    return import_run(job.rstrip() + f" {flags}\n")


def at(document, path):
    for key in path.split("."):
        document = document[key]
    return document


# (argument, what else it needs to have a meaning, key of the run file).
SIZES = [
    ("tensor-model-parallel-size", "", "parallelism.tensor_parallel"),
    ("pipeline-model-parallel-size", "", "parallelism.pipeline_parallel"),
    ("context-parallel-size", "", "parallelism.context_parallel"),
    ("expert-model-parallel-size", MIXTURE, "parallelism.expert_parallel"),
    ("expert-tensor-parallel-size", MIXTURE, "parallelism.expert_tensor_parallel"),
    ("num-virtual-stages-per-pipeline-rank", "", "parallelism.virtual_pipeline"),
    ("virtual-pipeline-model-parallel-size", "", "parallelism.virtual_pipeline"),
    ("moe-router-group-topk", MIXTURE, "model.nodes_per_token"),
    ("mtp-num-layers", "", "model.num_prediction_layers"),
    ("num-query-groups", "", "model.num_key_value_heads"),
    ("ffn-hidden-size", "", "model.ffn_hidden_size"),
    ("kv-channels", "", "model.head_size"),
    ("padded-vocab-size", "", "model.vocab_size"),
    ("moe-ffn-hidden-size", MIXTURE, "model.expert_ffn_hidden_size"),
    ("q-lora-rank", LATENT, "model.query_latent_size"),
    ("kv-lora-rank", LATENT, "model.key_value_latent_size"),
    ("qk-pos-emb-head-dim", LATENT, "model.rotary_head_size"),
    ("v-head-dim", LATENT, "model.value_head_size"),
    ("sequence-length", "", "sequence_length"),
    ("model-parallel-size", "", "parallelism.tensor_parallel"),
    ("zero-stage", "", "parallelism.zero_stage"),
    ("moe-expert-parallel-size", "--num-experts 8 --topk 2", "parallelism.expert_parallel"),
    ("num-key-value-heads", "", "model.num_key_value_heads"),
]
# Those that JOB has, where another value stands in place of its own.
OWN = [
    ("num-layers", "24", "model.num_layers"),
    ("hidden-size", "2048", "model.hidden_size"),
    ("num-attention-heads", "16", "model.num_attention_heads"),
    ("vocab-size", "32000", "model.vocab_size"),
    ("seq-length", "2048", "sequence_length"),
    ("micro-batch-size", "1", "training.micro_batch_size"),
    ("global-batch-size", "64", "training.global_batch_size"),
]


@each("name, others, path", SIZES)
def test_an_argument_with_a_number_is_that_number(name, others, path):
    found = after(f"--{name} 2 {others}")
    assert at(found.document, path) == 2
    told = {one.key: (one.kind, one.meaning) for one in found.entries}
    assert told[f"--{name}"] == ("understood", f"{path} = 2")


@each("name, value, path", OWN)
def test_a_size_of_the_job_is_the_number_that_stands_there(name, value, path):
    found = after("", job=JOB.replace(f"--{name} {value}", f"--{name} 128"))
    assert at(found.document, path) == 128


@each("name", ["num-experts", "num-moe-experts"])
def test_experts_have_two_names(name):
    found = after(f"--{name} 8 --moe-router-topk 4")
    assert found.contradictions == ()
    assert (found.run.model.num_experts, found.run.model.experts_per_token) == (8, 4)


def test_a_world_that_is_told_is_the_world():
    job = JOB.replace("--nproc_per_node 8 --nnodes 2", "")
    assert after("--world-size 32", job=job).run.plan.world_size == 32


def test_copies_of_the_sharded_optimizer_are_told():
    told = {one.key: one for one in after("--num-distributed-optimizer-instances 2").entries}
    one = told["--num-distributed-optimizer-instances"]
    assert (one.kind, one.meaning) == ("understood", "copies of the sharded optimizer")


def test_every_argument_with_a_number_is_tried():
    tried = {name for name, *_ in (*SIZES, *OWN)}
    tried |= {"num-experts", "num-moe-experts", "moe-router-topk", "world-size"}
    assert tried | {"num-distributed-optimizer-instances"} == COUNTS.keys()


MEANT = [
    ("sequence-parallel", "parallelism.sequence_parallel", True),
    ("swiglu", "model.mlp", "swiglu"),
    ("gated-linear-unit", "model.mlp", "swiglu"),
    ("quick-geglu", "model.mlp", "swiglu"),
    ("untie-embeddings-and-output-weights", "model.tied_embeddings", False),
    ("bf16", "training.precision", "bf16"),
    ("fp16", "training.precision", "fp16"),
    ("overlap-grad-reduce", "training.overlap_gradient_reduce", True),
    ("tp-comm-overlap", "training.overlap_tensor_parallel", True),
    ("overlap-moe-expert-parallel-comm", "training.overlap_expert_parallel", True),
    ("moe-a2a-overlap", "training.overlap_expert_parallel", True),
    ("use-transformer-engine-op-fuser", "training.fused_experts", True),
    ("enable-cuda-graph", "training.cuda_graphs", True),
    ("external-cuda-graph", "training.cuda_graphs", True),
    ("use-flash-attn", "training.flash_attention", True),
    ("recompute-activations", "training.recompute", "selective"),
    ("grad-reduce-in-bf16", "training.gradient_precision", "bf16"),
    ("accumulate-allreduce-grads-in-fp32", "training.gradient_precision", "fp32"),
    ("use-distributed-optimizer", "parallelism.zero_stage", 1),
    ("overlapped-distributed-optimizer", "parallelism.zero_stage", 1),
    ("use-torch-fsdp2", "parallelism.zero_stage", 3),
    ("zero-bubble-v-schedule", "training.schedule", "zbv"),
    # Weights are kept and gathered in the 8 or 4 bits of the products.
    ("fp8-param-gather", "training.quantized_weights", True),
    ("fp8-param", "training.quantized_weights", True),
    ("fp4-param-gather", "training.quantized_weights", True),
    ("fp4-param", "training.quantized_weights", True),
]
# What stands in the run file where no argument says otherwise.
UNSAID = {
    "parallelism.sequence_parallel": False,
    "parallelism.zero_stage": 0,
    "model.mlp": "gelu",
    "model.tied_embeddings": True,
    "training.precision": "bf16",
    "training.overlap_gradient_reduce": False,
}


@each("name, path, value", MEANT)
def test_a_switch_says_what_it_does(name, path, value):
    found = at(after(f"--{name}").document, path)
    assert (found, type(found)) == (value, type(value))


@each("name, path, value", MEANT)
@each("off", ["False", "None", "0", "false"])
def test_a_switch_that_is_off_says_nothing(name, path, value, off):
    found = after(f"--{name} {off}")
    section, _, key = path.partition(".")
    assert found.document[section].get(key) == UNSAID.get(path)
    told = [(one.kind, one.meaning) for one in found.entries if one.key == f"--{name}"]
    assert told == [("understood", "off")]


def test_every_switch_is_tried():
    assert {name for name, *_ in MEANT} == SWITCHES.keys()


def test_where_no_switch_is_set_megatron_s_own_defaults_stand():
    found = after("")
    assert found.contradictions == ()
    assert {path: at(found.document, path) for path in UNSAID} == UNSAID
    assert found.run.training.framework == "megatron"


@each(
    "flags, path, value",
    [
        ("--optimizer adam", "training.optimizer", "adam"),
        ("--optimizer SGD", "training.optimizer", "sgd"),
        ("--optimizer dist_muon", "training.optimizer", "muon"),
        ("--fp8-format hybrid", "training.precision", "fp8"),
        ("--fp8 e4m3", "training.precision", "fp8"),
        ("--fp4-format e2m1", "training.precision", "fp4"),
        ("--fp4 e2m1", "training.precision", "fp4"),
        ("--bf16 --fp8-format hybrid", "training.precision", "fp8"),
        ("--fp8-format hybrid --bf16", "training.precision", "fp8"),
        ("--cuda-graph-impl local", "training.cuda_graphs", True),
        ("--cuda-graph-impl transformer_engine", "training.cuda_graphs", True),
        ("--attention-backend flash", "training.flash_attention", True),
        ("--attention-backend fused", "training.flash_attention", True),
        ("--attention-backend auto", "training.flash_attention", True),
        ("--attention-backend unfused", "training.flash_attention", False),
        ("--attention-backend local", "training.flash_attention", False),
    ],
)
def test_an_argument_with_a_word_says_what_it_does(flags, path, value):
    assert at(after(flags).document, path) == value


@each("flags, path", [("--fp8-format None", "precision"), ("--cuda-graph-impl none", "cuda_graphs"),
                      ("--optimizer None", "optimizer")])  # fmt: skip
def test_an_argument_whose_word_is_none_says_nothing(flags, path):
    found = after(flags)
    assert found.document["training"].get(path) in (None, "bf16")
    told = [one.meaning for one in found.entries if one.key == flags.partition(" ")[0]]
    assert told == ["off"]


DISPATCH = "--moe-token-dispatcher-type"
BACKEND = "--moe-flex-dispatcher-backend"


@each(
    "flags, exchange",
    [
        (f"{DISPATCH} alltoall", "all-to-all"),
        (f"{DISPATCH} flex", "deepep"),  # the default of the backend
        (f"{DISPATCH} flex --moe-enable-deepep", "deepep"),
        (f"{DISPATCH} flex {BACKEND} hybridep", "hybridep"),
        # A log prints the backend of every run, also of one that does not use it.
        (f"{DISPATCH} alltoall {BACKEND} deepep", "all-to-all"),
        (f"{DISPATCH} allgather {BACKEND} deepep", None),
        (f"{BACKEND} hybridep", None),
        ("", None),
    ],
)
def test_the_exchange_of_tokens_follows_from_dispatcher_and_backend(flags, exchange):
    found = after(f"{MIXTURE} {flags}")
    assert found.contradictions == ()
    assert found.document["training"].get("exchange") == exchange


def test_a_model_without_experts_exchanges_no_tokens():
    assert "exchange" not in after(f"{DISPATCH} alltoall").document["training"]


def test_a_backend_that_overrides_a_recipe_brings_its_dispatcher():
    found = import_run(
        "python run.py --recipe qwen3_30b_a3b_pretrain_config "
        "model.moe_flex_dispatcher_backend=hybridep "
        "comm_overlap.overlap_moe_expert_parallel_comm=true\n"
    )
    training = found.document["training"]
    assert (training["exchange"], training["overlap_expert_parallel"]) == ("hybridep", True)


@each(
    "flags, kind, meaning",
    [
        (
            f"{DISPATCH} allgather",
            "not modeled",
            "allgather is not predicted; the model's routing decides",
        ),
        (
            f"{BACKEND} ncclep",
            "not modeled",
            "ncclep is not predicted; the model's routing decides",
        ),
        (
            "--moe-permute-fusion",
            "understood",
            "taken for granted: tokens are permuted by one kernel",
        ),
        (
            "--moe-shared-expert-overlap",
            "not modeled",
            "the prediction hides no exchange behind experts that all tokens share",
        ),
    ],
)
def test_what_the_prediction_makes_of_an_exchange_is_said(flags, kind, meaning):
    name = flags.partition(" ")[0]
    told = [(one.kind, one.meaning) for one in after(flags).entries if one.key == name]
    assert told == [(kind, meaning)]


_IMAGES = (
    "torchrun --nproc_per_node 8 train.py --num-layers 12 --hidden-size 1024 --bf16 "
    "--num-attention-heads 16 --seq-length 261 --decoder-seq-length 3200 --micro-batch-size 1 "
    "--max-position-embeddings 4096 --vocab-size 32000 --global-batch-size 8 "
)


def test_beside_a_vision_tower_the_decoders_length_is_the_language_models():
    found = import_run(f"{_IMAGES} --language-model-type yi --vision-model-type internvit\n")
    assert found.document["sequence_length"] == 3200
    plain = import_run(f"{_IMAGES}\n")
    assert plain.document["sequence_length"] == 261
    assert any("--seq-length is shown" in line for line in plain.warnings)
