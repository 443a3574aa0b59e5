"""What arguments of Megatron-LM say of a model, family by family."""

from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.file import read_run
from engine.run.importers.assemble import DGX_H100
from tests.each import each


def run_of(model, gpu="H100-SXM", **training):
    settings = {"micro_batch_size": 1, "global_batch_size": 8, "precision": "bf16"}
    document = {
        "model": model,
        "sequence_length": 4096,
        "cluster": DGX_H100 | {"gpu": gpu},
        "parallelism": {"world_size": 8},
        "training": settings | training,
    }
    return read_run(document)


def arguments(*given, **training):
    """Return argument -> value, True for a switch."""
    text = megatron_arguments(run_of(*given, **training)).replace("\\\n", " ")
    parts = text.partition("pretrain_gpt.py")[2].strip().removeprefix("--").split(" --")
    pairs = (part.strip().partition(" ") for part in parts)
    return {name: value or True for name, _, value in pairs}


# Of the papers and the files config.json (`rope_theta`) of the families.
@each(
    "model, base",
    [
        ("llama-7b", "10000"),
        ("llama-2-7b", "10000"),
        ("llama-3-8b", "500000"),
        ("llama-3.2-1b", "500000"),
        ("llama-4-scout", "500000"),
        ("code-llama-34b", "1000000"),
        ("mixtral-8x7b", "1000000"),
        ("qwen2.5-7b", "1000000"),
        ("qwen3-8b", "1000000"),
        ("deepseek-v3", "10000"),
        ("gpt-2", None),
        ("palm-540b", None),
    ],
)
def test_rotary_positions_have_the_base_of_the_family(model, base):
    assert arguments(model).get("rotary-base") == base


@each("model, told", [("llama-3-8b", False), ("gpt-2", False), ("palm-540b", True)])
def test_a_model_that_is_not_known_in_full_is_to_be_compared(model, told):
    text = megatron_arguments(run_of(model))
    assert text.startswith("# Not all of this model is known here" if told else "torchrun ")


NAMES = ("swiglu", "normalization", "attention-dropout", "hidden-dropout", "disable-bias-linear",
         "untie-embeddings-and-output-weights", "max-position-embeddings",
         "position-embedding-type", "kv-channels", "group-query-attention", "num-query-groups",
         "qk-layernorm", "add-qkv-bias", "multi-latent-attention")  # fmt: skip
LLAMA = {
    "swiglu": True,
    "normalization": "RMSNorm",
    "attention-dropout": "0.0",
    "hidden-dropout": "0.0",
    "disable-bias-linear": True,
    "untie-embeddings-and-output-weights": True,
    "max-position-embeddings": "4096",
    "position-embedding-type": "rope",
}
GROUPED = {"group-query-attention": True, "num-query-groups": "8"}
TIED = {"untie-embeddings-and-output-weights": None}


@each(
    "model, said",
    [
        ("gpt-2", {"max-position-embeddings": "1024"}),
        ("llama-2-7b", LLAMA),
        ("llama-3-8b", LLAMA | GROUPED),
        ("llama-3.2-1b", LLAMA | GROUPED | TIED),
        ("qwen2.5-7b", LLAMA | GROUPED | {"num-query-groups": "4", "add-qkv-bias": True}),
        ("qwen3-8b", LLAMA | GROUPED | {"kv-channels": "128", "qk-layernorm": True}),
        ("command-r-plus", LLAMA | GROUPED | TIED | {"normalization": None}),
        ("deepseek-v3", LLAMA | {"qk-layernorm": True, "multi-latent-attention": True}),
    ],
)
def test_a_model_is_told_as_its_family_is_built(model, said):
    found = arguments(model)
    assert {name: found.get(name) for name in NAMES} == dict.fromkeys(NAMES) | said


@each(
    "gpu, once, scaled",
    [("B200", False, True), ("B200", True, False), ("H100-SXM", False, False)],
)
def test_two_copies_of_weights_in_eight_bits_have_a_scale_for_each_block(gpu, once, scaled):
    eight = {"precision": "fp8", "quantized_weights": True, "quantized_once": once}
    assert arguments("llama-3-8b", gpu, **eight).get("fp8-recipe") == ("mxfp8" if scaled else None)
    recipe = "bf16_with_mxfp8_mixed" if scaled else "bf16_with_fp8_current_scaling_mixed"
    assert f"mixed_precision={recipe}\n" in bridge_overrides(run_of("llama-3-8b", gpu, **eight))
