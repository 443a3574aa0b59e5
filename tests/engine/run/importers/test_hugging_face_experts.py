"""Experts of a `config.json` at their limits: how many, how wide, which layers and which nodes."""

from engine.run.importers.hugging_face import read_shape
from tests.each import each

MIXTURE = {
    "model_type": "qwen2_moe",
    "num_hidden_layers": 24,
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 5632,
    "vocab_size": 151936,
    "num_experts": 60,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 1408,
}


def shape(without=(), **others):
    return read_shape({key: one for key, one in (MIXTURE | others).items() if key not in without})


@each("experts", [0, 1, None])
def test_without_a_second_expert_nothing_is_said_of_experts(experts):
    found = shape(num_experts=experts, n_shared_experts=1, first_k_dense_replace=3)
    assert found.problems == []
    left = [key for key in found.fields if "expert" in key or "dense" in key]
    assert left == []


def test_two_experts_are_a_mixture():
    found = shape(num_experts=2, n_shared_experts=1, first_k_dense_replace=3).fields
    counts = {"num_experts": 2, "experts_per_token": 4, "num_shared_experts": 1}
    sizes = {"expert_ffn_hidden_size": 1408, "num_dense_layers": 3}
    assert found | counts | sizes == found


@each("others", [{"moe_intermediate_size": None}, {"moe_intermediate_size": 0}])
def test_experts_without_a_width_of_their_own_have_that_of_a_layer(others):
    found = shape(**others)
    assert found.fields["expert_ffn_hidden_size"] == 5632
    why = "intermediate_size: no width of experts is named"
    assert found.derived["expert_ffn_hidden_size"] == why
    assert "expert_ffn_hidden_size" not in shape().derived


def test_experts_need_to_say_how_many_work_on_a_token():
    (problem,) = shape(without=["num_experts_per_tok"]).problems
    assert problem == "num_experts_per_tok: missing; allowed: 1 to the number of experts"
    assert shape().problems == []


def test_a_number_of_experts_under_no_known_name_is_not_overlooked():
    (problem,) = shape(without=["num_experts"], count_of_experts=64).problems
    assert problem == (
        "count_of_experts: 64; allowed: a number of experts under one of the names "
        "n_routed_experts, num_experts, num_local_experts, moe_num_experts, num_total_experts"
    )
    assert shape(count_of_experts=64).problems == []


@each("width, count", [(5632, 4), (1408, 1), (2112, 2), (2816, 2), (1, 1)])
@each("key", ["shared_expert_intermediate_size", "shared_intermediate_size"])
def test_shared_experts_are_counted_by_their_width(key, width, count):
    found = shape(**{key: width})
    assert found.fields["num_shared_experts"] == count
    why = f"a width of {width} over 1408 of one expert"
    assert found.derived["num_shared_experts"] == why


@each("width", [0, -1, None, "5632"])
def test_no_width_is_of_no_shared_experts(width):
    found = shape(shared_expert_intermediate_size=width)
    assert "num_shared_experts" not in found.fields | found.derived


def test_shared_experts_that_are_counted_are_not_counted_by_their_width():
    found = shape(n_shared_experts=2, shared_expert_intermediate_size=5632)
    assert found.fields["num_shared_experts"] == 2
    assert "num_shared_experts" not in found.derived


@each("family", ["llama4", "llama4_text"])
def test_the_class_of_llama_4_always_has_a_shared_expert(family):
    found = shape(model_type=family)
    assert found.fields["num_shared_experts"] == 1
    told = "1: Llama 4's class always has one (Transformers 5.24)"
    assert found.assumed["num_shared_experts"] == told
    assert "num_shared_experts" not in shape().fields


STEPS = ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq")


@each("key", STEPS)
@each("step, every", [(1, 0), (2, 2)])
def test_every_layer_or_every_other_one_has_experts(key, step, every):
    found = shape(**{key: step})
    assert found.fields["dense_layer_every"] == every
    assert found.used[key] == "dense_layer_every"
    assert found.problems == []


@each("key", STEPS)
@each("step", [3, 4])
def test_no_rarer_layers_have_experts(key, step):
    found = shape(**{key: step})
    assert found.problems == [
        f"{key}: {step}; allowed: 1 or 2, every layer or every other one has experts"
    ]
    assert key not in found.used


@each("key", STEPS)
@each("step", [0, -2, True, False, "2"])
def test_what_is_no_step_says_nothing_of_the_layers(key, step):
    found = shape(**{key: step})
    assert found.problems == []
    assert "dense_layer_every" not in found.fields
    assert key not in found.used


@each("key, dense, sparse", [("moe_layer_freq", 0, 1), ("mlp_layer_types", "dense", "sparse")])
def test_the_first_layers_of_a_list_may_have_no_experts(key, dense, sparse):
    found = shape(**{key: [dense] * 3 + [sparse] * 21})
    assert found.fields["num_dense_layers"] == 3
    assert (found.used[key], found.problems) == ("num_dense_layers", [])
    later = shape(**{key: [sparse] * 3 + [dense] * 2 + [sparse] * 19}).problems
    assert later == [
        f"{key}: layers 4-5 without experts: not priced; allowed: such layers at the start alone"
    ]
    (short,) = shape(**{key: [dense] * 3 + [sparse] * 20}).problems
    assert short == f"{key}: 23 entries; allowed: one for each of the 24 layers"
    (other,) = shape(**{key: [dense] * 3 + ["x"] * 21}).problems
    assert other == f'{key}: "x": not priced; allowed: {dense} or {sparse} for each layer'


@each("numbers", ["3,4,5", [3, 4, 5]])
@each("key", ["moe_layers_enum", "moe_layers"])
def test_layers_with_experts_may_be_numbered(key, numbers):
    found = shape(num_hidden_layers=6, **{key: numbers})
    assert found.fields["num_dense_layers"] == 3
    assert (found.used[key], found.problems) == ("num_dense_layers", [])


@each("only, dense", [([0], 1), ([0, 1, 2], 3), ([2, 0, 1], 3), (list(range(24)), 24)])
def test_the_first_layers_may_have_no_experts(only, dense):
    found = shape(mlp_only_layers=only)
    assert found.fields["num_dense_layers"] == dense
    assert found.used["mlp_only_layers"] == "num_dense_layers"
    assert found.problems == []


@each("only", [[], None, "none"])
def test_no_list_of_layers_without_experts_says_nothing(only):
    found = shape(mlp_only_layers=only)
    assert "num_dense_layers" not in found.fields
    assert (found.problems, "mlp_only_layers" in found.used) == ([], False)


@each("only", [[1], [1, 2], [0, 2], [0, "x"], list(range(25))])
def test_other_layers_than_the_first_all_have_experts(only):
    found = shape(mlp_only_layers=only)
    (problem,) = found.problems
    assert problem.startswith("mlp_only_layers: [")
    assert problem.endswith("; allowed: none, or the first layers of the model")
    assert "num_dense_layers" not in found.fields


# A token's experts lie in `topk_group` of `n_group` groups of experts (DeepSeek-V3).
@each("groups, every, nodes", [(4, 8, 4), (1, 2, 1), (2, 2, 2), (1, 1, 0), (3, 0, 0)])
def test_the_groups_of_a_token_are_nodes_where_there_are_several(groups, every, nodes):
    found = shape(topk_group=groups, n_group=every)
    assert found.fields["nodes_per_token"] == nodes
    assert found.used["topk_group"] == "nodes_per_token"


@each("groups, every", [(0, 8), (-1, 8), (None, 8), ("4", 8), (4, None), (4, "8")])
def test_what_is_no_group_limits_no_token(groups, every):
    found = shape(topk_group=groups, n_group=every)
    assert "nodes_per_token" not in found.fields
    assert "topk_group" not in found.used


@each("width", [1, (1 << 24) - 1])
def test_a_width_of_dense_layers_leaves_the_other_to_the_experts(width):
    found = shape(without=["moe_intermediate_size"], intermediate_size_mlp=width)
    assert found.fields["ffn_hidden_size"] == width
    assert found.fields["expert_ffn_hidden_size"] == 5632
    assert found.used["intermediate_size_mlp"] == "ffn_hidden_size"


def test_a_width_of_dense_layers_that_stands_alone_is_that_of_the_experts():
    names = ["moe_intermediate_size", "intermediate_size"]
    found = shape(without=names, intermediate_size_mlp=16384).fields
    assert found["ffn_hidden_size"] == found["expert_ffn_hidden_size"] == 16384


@each("width", [0, 1 << 24, True, None, "16384"])
def test_what_is_no_width_of_dense_layers_changes_none(width):
    found = shape(intermediate_size_mlp=width)
    assert found.fields["ffn_hidden_size"] == 5632
    assert found.fields["expert_ffn_hidden_size"] == 1408
    assert "intermediate_size_mlp" not in found.used


def test_a_model_of_another_kind_is_not_read_further():
    found = shape(model_type="mamba2")
    said = 'model_type: "mamba2"; allowed: a family whose layers all have attention'
    assert (found.problems, found.fields) == ([said], {})


def test_the_biases_of_a_family_are_told():
    found = shape(model_type="gpt_oss")
    assert found.fields["biases"] is True
    assert found.derived["biases"] == "linear layers of gpt_oss have biases"
    assert "biases" not in shape().fields
