"""Sizes of a model that contradict each other: one line for each reason, the first key leading."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.run.document import model_contradictions
from tests.each import each

PLAIN = MODELS["llama-3-8b"]  # a head has 4096 / 32 = 128 values
LATENT = replace(
    PLAIN, attention="mla", key_value_latent_size=512, rotary_head_size=64, value_head_size=128
)
EXPERTS = replace(PLAIN, num_experts=8, experts_per_token=2, expert_ffn_hidden_size=512)
NO_LATENTS = '; allowed: 0, or attention "mla"'
LATENTS = "; allowed: 1 or more with attention mla"
NO_EXPERTS = "; allowed: 0 where num_experts is 0"
PART = "; allowed: with attention mla more than rotary_head_size = {}, which is a part of it"


@each(
    ("changed", "problem"),
    [
        ({}, ""),
        ({"value_head_size": 64}, ""),
        ({"query_latent_size": 8}, "query_latent_size: 8" + NO_LATENTS),
        ({"key_value_latent_size": 8}, "key_value_latent_size: 8" + NO_LATENTS),
        ({"rotary_head_size": 8}, "rotary_head_size: 8" + NO_LATENTS),
        (
            {"query_latent_size": 1, "rotary_head_size": 2, "value_head_size": 3},
            "query_latent_size: 1, rotary_head_size: 2" + NO_LATENTS,
        ),
    ],
)
def test_latents_need_their_attention(changed, problem):
    found = model_contradictions(replace(PLAIN, **changed))
    assert found == ([f"model.{problem}"] if problem else [])


@each(
    ("changed", "problem"),
    [
        ({}, ""),
        ({"query_latent_size": 1536}, ""),
        ({"key_value_latent_size": 0}, "key_value_latent_size: 0" + LATENTS),
        ({"rotary_head_size": 0}, "rotary_head_size: 0" + LATENTS),
        ({"value_head_size": 0}, "value_head_size: 0" + LATENTS),
        (
            {"key_value_latent_size": 0, "value_head_size": 0, "head_size": 1},
            "key_value_latent_size: 0, value_head_size: 0" + LATENTS,
        ),
        ({"rotary_head_size": 127}, ""),
        ({"rotary_head_size": 128}, "head_size: 128" + PART.format(128)),
        ({"head_size": 65}, ""),
        ({"head_size": 64}, "head_size: 64" + PART.format(64)),
        ({"head_size": 63}, "head_size: 63" + PART.format(64)),
    ],
)
def test_attention_over_latents_has_all_its_sizes(changed, problem):
    found = model_contradictions(replace(LATENT, **changed))
    assert found == ([f"model.{problem}"] if problem else [])


@each(
    ("model", "changed", "problem"),
    [
        (PLAIN, {"dense_layer_every": 1}, "dense_layer_every: 1" + NO_EXPERTS),
        (PLAIN, {"nodes_per_token": 4}, "nodes_per_token: 4" + NO_EXPERTS),
        (
            PLAIN,
            {"dense_layer_every": 2, "nodes_per_token": 4},
            "dense_layer_every: 2, nodes_per_token: 4" + NO_EXPERTS,
        ),
        (EXPERTS, {"dense_layer_every": 0, "nodes_per_token": 4}, ""),
        (EXPERTS, {"dense_layer_every": 2}, ""),
        (
            EXPERTS,
            {"dense_layer_every": 1},
            "dense_layer_every: 1; allowed: 0, or 2 or more, there are experts",
        ),
    ],
)
def test_layers_and_nodes_of_experts_need_experts(model, changed, problem):
    found = model_contradictions(replace(model, **changed))
    assert found == ([f"model.{problem}"] if problem else [])


def test_both_kinds_of_contradictions_are_told():
    found = model_contradictions(replace(PLAIN, rotary_head_size=8, nodes_per_token=4))
    assert found == [
        f"model.rotary_head_size: 8{NO_LATENTS}",
        f"model.nodes_per_token: 4{NO_EXPERTS}",
    ]
