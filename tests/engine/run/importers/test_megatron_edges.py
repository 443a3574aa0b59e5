"""What becomes of an argument of Megatron-LM that is off, unknown, damaged or only noted."""

from engine.run.importers.import_report import OFFLOADED, RunDraft, Setting
from engine.run.importers.megatron import import_megatron
from engine.run.importers.unknown_keys import UNKNOWN
from tests.each import each

QUIET = "changes neither the time nor the memory that is predicted here"
BELOW = "worked into what is derived below"


def taken(*pairs):
    draft = RunDraft()
    import_megatron([Setting(key=key, value=value, line=7) for key, value in pairs], draft)
    return draft


def told(draft):
    return [(one.kind, one.meaning) for one in draft.entries]


def test_a_name_is_read_with_hyphens_or_underscores_in_any_case():
    for key in ("--num-layers", "num_layers", "NUM_LAYERS"):
        assert taken((key, "24")).values == {
            "training.framework": "megatron",
            "model.num_layers": 24,
        }


def test_a_framework_that_is_known_stays():
    draft = RunDraft(values={"training.framework": "other"})
    import_megatron([], draft)
    assert draft.values == {"training.framework": "other"}


@each("value", ["None", "null", "True", True, None])
def test_a_number_that_is_not_set_is_not_taken(value):
    draft = taken(("--num-query-groups", value))
    assert told(draft) == [("understood", "not set")]
    assert (draft.contradictions, "model.num_key_value_heads" in draft.values) == ([], False)


@each("value", ["many", "8.5", "False"])
def test_what_is_no_number_is_a_contradiction(value):
    draft = taken(("--num-layers", value))
    assert told(draft) == [("not known", f"{value} is no whole number")]
    assert draft.contradictions == [f"line 7: --num-layers is {value}; a whole number is needed"]


def test_a_degree_of_zero_is_a_contradiction():
    draft = taken(("--tensor-model-parallel-size", "0"))
    said = "line 7: --tensor-model-parallel-size is 0; at least 1 is needed"
    assert draft.contradictions == [said]
    assert taken(("--tensor-model-parallel-size", "1")).contradictions == []


def test_copies_of_the_optimizer_are_noted():
    assert taken(("--num-distributed-optimizer-instances", "4")).notes == {"instances": 4}


@each("value", ["gpu", "0", "-1", "$NODES", ":8"])
def test_processes_that_are_no_number_are_ignored(value):
    draft = taken(("--nnodes", value))
    assert draft.notes == {}
    assert told(draft) == [("not known", f"{value} is no whole number")]
    assert draft.warnings == [f"--nnodes (line 7) is {value}, which the text does not say"]


@each(
    "name, value",
    [
        ("moe-layer-freq", "2"),
        ("recompute-granularity", "full"),
        ("recompute-modules", ["mlp", "moe_act"]),
        ("multi-latent-attention", True),
        ("disable-bias-linear", "True"),
        ("max-position-embeddings", "0"),
    ],
)
def test_what_is_worked_out_later_is_noted(name, value):
    draft = taken((f"--{name}", value))
    assert draft.notes == {name: value}
    assert told(draft) == [("understood", BELOW)]


@each("name", ["moe-layer-freq", "disable-bias-linear", "recompute-method", "qk-head-dim"])
@each("value", ["None", "False", None, False])
def test_what_would_be_worked_out_later_may_be_off(name, value):
    draft = taken((f"--{name}", value))
    assert draft.notes == {}
    assert told(draft) == [("understood", "off")]


@each(
    "value, notes",
    [
        ("False", {"disable-bias-linear": True}),
        ("True", {"add-bias-linear": "True"}),
        (True, {"add-bias-linear": True}),
    ],
)
def test_a_log_prints_disabled_biases_as_those_that_are_not_added(value, notes):
    assert taken(("add_bias_linear", value)).notes == notes


@each("name", ["fp8-param-gather", "fp8-param", "fp4-param-gather", "fp4-param"])
def test_weights_in_eight_bits_that_a_recipe_turns_on_are_turned_off(name):
    on = ("--fp8-param-gather", True)
    assert taken(on).values["training.quantized_weights"] is True
    assert "training.quantized_weights" not in taken(on, (f"--{name}", "false")).values
    assert "training.quantized_weights" in taken(on, ("--bf16", "false")).values


@each("value", [False, None, 0, "False", "none"])
def test_a_switch_that_is_off_is_not_taken(value):
    draft = taken(("--sequence-parallel", value))
    assert "parallelism.sequence_parallel" not in draft.values
    assert told(draft) == [("understood", "off")]


@each("value", ["$SP", "${SP}"])
def test_a_switch_that_the_text_does_not_say_is_ignored(value):
    draft = taken(("--sequence-parallel", value))
    assert "parallelism.sequence_parallel" not in draft.values
    assert told(draft) == [("not modeled", f"the text does not say what {value} is")]


@each(
    "name, value, meaning",
    [
        ("optimizer-cpu-offload", True, OFFLOADED),
        ("cpu-offloading", "True", OFFLOADED),
        ("cpu-offloading", "False", "off"),
        (
            "rampup-batch-size",
            ["16", "16", "1000"],
            "the batch grows step by step; the last one is shown",
        ),
        ("no-load-optim", True, "saving and loading lie between steps"),
        ("load-balance", "x", UNKNOWN),
        ("no-anything-else", "x", UNKNOWN),
        ("lr", "3e-4", "a number of the optimizer or of its schedule"),
        ("lr-decay-style", "cosine", "a number of the optimizer or of its schedule"),
        ("train-iters", "100", "how many steps there are"),
        ("qk-layernorm", True, "an operation of so few bytes that it is left out"),
        ("frobnicate", True, UNKNOWN),
        ("frobnicate", "False", UNKNOWN),
        ("norm", "x", UNKNOWN),
    ],
)
def test_an_argument_that_is_not_taken_is_told_why(name, value, meaning):
    draft = taken((f"--{name}", value))
    kinds = {OFFLOADED: "not modeled", UNKNOWN: "not known", "off": "understood"}
    other = "not modeled" if name == "rampup-batch-size" else "without effect"
    assert told(draft) == [(kinds.get(meaning, other), meaning)]
    assert (draft.notes, draft.values) == ({}, {"training.framework": "megatron"})


@each("value, name", [("delayed", "delayed"), ("MXFP8", "mxfp8"), ("tensorwise", "tensorwise")])
def test_the_scaling_of_eight_bits_is_noted(value, name):
    draft = taken(("--fp8-recipe", value))
    assert draft.notes == {"fp8-recipe": name}
    said = "whether a GPU keeps one copy of a weight in fp8 or two"
    assert told(draft) == [("understood", said)]


def test_an_optimizer_that_is_not_known_is_told():
    draft = taken(("--optimizer", "Lion"))
    assert told(draft) == [("not modeled", "lion: adam is taken")]
    assert "training.optimizer" not in draft.values


def test_an_older_name_of_rotary_positions_gives_way_to_the_newer():
    old = ("--use-rotary-position-embeddings", True)
    assert taken(old).notes == {"position-embedding-type": "rope"}
    assert taken(("--position-embedding-type", "yarn"), old).notes == {
        "position-embedding-type": "yarn"
    }
    said = "an older name of --position-embedding-type rope"
    assert told(taken(old)) == [("understood", said)]


@each("value, noted", [("Et|tL", True), ("", True), ("$LAYOUT", False), ("xyz", False)])
def test_a_layout_is_noted_where_it_is_written_out(value, noted):
    draft = taken(("--pipeline-model-parallel-layout", value))
    kept = {"pipeline-model-parallel-layout": value} if noted else {}
    even = ("not modeled", "not written out here: layers are cut evenly")
    assert draft.notes == kept
    assert told(draft) == [("understood", BELOW) if noted else even]


def test_grouped_products_of_experts_are_taken_for_granted():
    said = "taken for granted: the products of a rank's experts are grouped"
    assert told(taken(("--moe-grouped-gemm", True))) == [("understood", said)]
