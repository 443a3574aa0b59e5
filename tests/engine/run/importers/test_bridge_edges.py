"""Overrides of recipes of Megatron-Bridge: what is found, with its line, and what each says."""

from engine.run.importers.bridge import find_model, import_bridge, read_overrides
from engine.run.importers.import_report import RunDraft, Setting
from tests.each import each


def found(text, first=1):
    return [(one.key, one.value, one.line) for one in read_overrides(text, first)]


def taken(key, value, values=()):
    draft = RunDraft(values=dict(values))
    import_bridge([Setting(key=key, value=value, line=3)], draft)
    return draft


@each(
    "text, keys",
    [
        ("model.x=4", [("model.x", "4", 1)]),
        ("++model.x=4 +train.y = 5", [("model.x", "4", 1), ("train.y", "5", 1)]),
        ("\ncfg.model.x=4 # model.y=5", [("cfg.model.x", "4", 2)]),
        ("model.x=[a, 'b',,c]", [("model.x", ["a", "b", "c"], 1)]),
        ("model.x=[]", [("model.x", [], 1)]),
        ("model.x=a]", [("model.x", "a]", 1)]),
        ("model.x='[a]'", [("model.x", ["a"], 1)]),
        ('model.x="a b"', [("model.x", "a b", 1)]),
        ("other.x=4", []),
        ("run --recipe llama3_8b_pretrain_config model.x=1",
         [("recipe", "llama3_8b", 1), ("model.x", "1", 1)]),
        ("a_b_pretrain_config\na_b_pretrain_config\nc_d_sft_config",
         [("recipe", "a_b", 1), ("recipe", "c_d", 3)]),
    ],
)  # fmt: skip
def test_overrides_and_recipes_are_found_with_their_lines(text, keys):
    assert found(text) == keys
    assert found(text, 5) == [(key, value, line + 4) for key, value, line in keys]
    assert [one.line for one in read_overrides(text)] == [line for *_, line in keys]


@each("length, kept", [(40_000, 1), (40_001, 0)])
def test_a_line_of_overrides_has_40000_characters_at_most(length, kept):
    # Without the last character the override has no value.
    assert len(found("model.x=1".rjust(length))) == kept


PRECISION, WEIGHTS = "training.precision", "training.quantized_weights"


@each("key", ["mixed_precision", "cfg.mixed_precision", "config.mixed_precision.precision"])
@each(
    "word, precision, weights, scaling",
    [
        ("bf16_mixed", "bf16", None, "tensorwise"),
        ("FP16_mixed", "fp16", None, "tensorwise"),
        ("bf16_with_fp8_current_scaling_mixed", "fp8", True, "tensorwise"),
        ("bf16_with_fp8_subchannel_scaling_mixed", "fp8", None, "blockwise"),
        ("bf16_with_mxfp8_mixed", "fp8", True, "blockwise"),
        ("bf16_with_nvfp4_mixed", "fp4", True, "tensorwise"),
    ],
)
def test_a_mixed_precision_is_that_of_the_products(key, word, precision, weights, scaling):
    draft = taken(key, word)
    assert draft.values[PRECISION] == precision
    assert draft.values.get(WEIGHTS) is weights
    assert draft.notes == {"fp8-recipe": scaling}


@each(
    "key, value, path, number",
    [
        ("model.tensor_model_parallel_size", "4", "parallelism.tensor_parallel", 4),
        ("cfg.train.micro_batch_size", 2, "training.micro_batch_size", 2),
        ("tensor_model_parallel_size", 2, "parallelism.tensor_parallel", 2),
        ("model.sequence_parallel", "true", "parallelism.sequence_parallel", True),
        ("model.sequence_parallel", "True", "parallelism.sequence_parallel", True),
        ("model.sequence_parallel", "false", "parallelism.sequence_parallel", None),
    ],
)
def test_an_override_is_the_argument_of_its_last_name(key, value, path, number):
    draft = taken(key, value)
    assert draft.values.get(path) == number
    (one,) = draft.entries
    assert (one.key, one.line, one.kind) == (key, 3, "understood")


def test_a_switch_that_the_text_sets_to_true_is_noted_as_one():
    assert taken("model.multi_latent_attention", "true").notes == {"multi-latent-attention": True}


@each("key", ["recipe", "def", "cfg.recipe"])
def test_a_recipe_names_the_model(key):
    assert taken(key, "llama3_8b").values == {"model": "llama-3-8b"}
    draft = taken(key, "other_9b")
    assert draft.values == {}
    said = "no model of the catalog is named so"
    assert [(one.kind, one.meaning) for one in draft.entries] == [("not modeled", said)]


@each("name, gpus", [("llama3_8b_16gpus", 16), ("llama3_8b_1gpu_x", 1), ("llama3_8b", None)])
def test_a_recipe_may_name_its_gpus(name, gpus):
    assert taken("recipe", name).notes.get("recipe_gpus") == gpus


@each(
    "text, row",
    [
        ("llama3_70b", "llama-3-70b"),
        ("llama31_405b_x", "llama-3-405b"),
        ("Qwen3_30b_a3b", "qwen3-30b-a3b"),
        ("gpt_oss_120b", "gpt-oss-120b"),
        ("other", None),
        ("", None),
    ],
)
def test_a_model_is_named_as_recipes_spell_it(text, row):
    assert find_model(text) == row
