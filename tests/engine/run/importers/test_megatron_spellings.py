"""Other spellings of Megatron's arguments: older names, forks, lists, what guides recommend."""

from engine.run.importers.assemble import import_run
from engine.run.importers.megatron import COUNTS, NOTED, SWITCHES
from engine.run.importers.megatron_keys import MEGATRON_KEYS
from tests.each import each

GPT = """torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \\
 --num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --micro-batch-size 1 \\
 --global-batch-size 64 """
MIXTURE = "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 512 --moe-layer-freq "


def answer(flags):
    found = import_run(GPT + flags)
    assert found.contradictions == ()
    return found


@each(
    "said, model",
    [
        ("[1]*24", {}),
        ("'[1]*24'", {}),
        ("([1]*24)", {}),
        ("([0]*3+[1]*21)", {"num_dense_layers": 3}),
        ("[0]+[1]*23", {"num_dense_layers": 1}),
        ("[0]*1+[1]*23", {"num_dense_layers": 1}),
        ("[0,1]*12", {"dense_layer_every": 2}),
        ("([0, 1]*12)", {"dense_layer_every": 2}),
        (f"[{','.join('0' + '1' * 23)}]", {"num_dense_layers": 1}),
        ("1", {}),
        ("2", {"dense_layer_every": 2}),
    ],
)
def test_layers_with_experts_are_a_number_or_a_list_of_python(said, model):
    quoted = f'"{said}"' if " " in said else said
    shape = answer(MIXTURE + quoted).document["model"]
    dense = ("num_dense_layers", "dense_layer_every")
    assert {key: shape[key] for key in dense if key in shape} == model


@each("said", ["[1]*23", "[0]*3+[1]*20", "[1]*12+[0]*12"])
def test_a_list_that_does_not_fit_the_layers_is_a_contradiction(said):
    (fault,) = import_run(f"{GPT}{MIXTURE}{said}").contradictions
    assert fault.startswith("--moe-layer-freq")


@each(
    "flags, path, value",
    [
        ("--checkpoint-activations", "training.recompute", "full"),
        ("--checkpoint-activations --checkpoint-num-layers 1", "training.recompute", "full"),
        ("--deepspeed-activation-checkpointing", "training.recompute", "full"),
        ("--activations-checkpoint-method uniform", "training.recompute", "full"),
        ("--recompute-granularity full --recompute-method uniform", "training.recompute", "full"),
        ("--recompute-granularity selective --recompute-modules mlp layernorm",
         "training.recompute", ["mlp", "layernorm"]),
        ("--recompute-activations", "training.recompute", "selective"),
        ("--pad-vocab-size-to 250880", "model.vocab_size", 250880),
        ("--overlapped-distributed-optimizer", "parallelism.zero_stage", 1),
        ("--use-distributed-optimizer", "parallelism.zero_stage", 1),
        ("--deepspeed --zero-stage 2", "parallelism.zero_stage", 2),
        ("--use-torch-fsdp2", "parallelism.zero_stage", 3),
        ("--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward", "parallelism.zero_stage", 2),
        ("--use-custom-fsdp --data-parallel-sharding-strategy optim_grads_params",
         "parallelism.zero_stage", 3),
        ("--model-parallel-size 4", "parallelism.tensor_parallel", 4),
        ("--num_layers_per_virtual_pipeline_stage 6 --pipeline_model_parallel_size 2",
         "parallelism.virtual_pipeline", 2),
        ("--pipeline-model-parallel-size 2 --num-layers-in-first-pipeline-stage 10",
         "parallelism.pipeline_layout", [10, 14]),
        ("--cuda-graph-impl local --cuda-graph-scope full_iteration", "training.cuda_graphs", True),
        (f"{MIXTURE}1 --moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep",
         "training.exchange", "hybridep"),
        (f"{MIXTURE}1 --overlap-moe-expert-parallel-comm --delay-wgrad-compute",
         "training.overlap_expert_parallel", True),
    ],
)  # fmt: skip
def test_an_argument_says_the_same_in_every_spelling(flags, path, value):
    found = answer(flags)
    document = found.document
    for key in path.split("."):
        document = document[key]
    assert document == value
    assert not [entry.key for entry in found.entries if entry.kind == "not known"]


@each(
    "flags, key",
    [
        ("--cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router",
         "--cuda-graph-scope"),
        ("--rampup-batch-size 16 16 1000", "--rampup-batch-size"),
        ("--use-precision-aware-optimizer", "--use-precision-aware-optimizer"),
        ("--moe-expert-capacity-factor 1.0", "--moe-expert-capacity-factor"),
        ("--context-parallel-size 2 --cp-comm-type a2a", "--cp-comm-type"),
        ("--first-last-layers-bf16", "--first-last-layers-bf16"),
    ],
)  # fmt: skip
def test_what_the_answer_leaves_out_is_warned_of(flags, key):
    found = answer(flags)
    assert [entry.key for entry in found.entries if entry.kind == "not modeled"] == [key]
    assert found.warnings[0].startswith(key)


@each("flag", ["--hidden-widening-factor 2", "--ulysses-degree 4", "--zero-share 0.5"])
def test_an_unknown_size_is_warned_of_and_another_key_is_not(flag):
    found = answer(f"{flag} --frobnicate 3")
    assert found.warnings == (f"{flag.partition(' ')[0]} (line 3) is not known here",)
    kinds = [entry.kind for entry in found.entries if entry.key == "--frobnicate"]
    assert kinds == ["not known"]


@each("flag", ["--is-hybrid-model", "--hybrid-layer-pattern M*M*", "--hybrid-override-pattern M-"])
def test_a_state_space_model_is_refused(flag):
    assert import_run(GPT + flag).run is None


def test_no_argument_is_in_two_tables():
    settings = {*COUNTS, *SWITCHES, *NOTED}
    quiet = [key for keys in MEGATRON_KEYS.without_effect.values() for key in keys]
    assert len(quiet) == len(set(quiet))
    both = {key.replace("-", "_") for key in settings} & {*quiet, *MEGATRON_KEYS.not_modeled}
    assert not both
    assert not {*quiet} & {*MEGATRON_KEYS.not_modeled}
