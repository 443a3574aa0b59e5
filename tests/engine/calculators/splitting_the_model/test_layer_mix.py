"""The composer of layers, and the state beside keys and values."""

import pytest

from engine.calculator import load
from engine.catalog.mixed_runs import MIXED_RUNS
from engine.catalog.mixers.mix import SLOWER
from engine.catalog.recent_models import EVERY_MODEL
from engine.estimate import estimate
from engine.run.exporters.hybrid_pattern import hybrid_pattern
from engine.run.file import read_run
from engine.tiny.written_state import KEYS, TOKENS, written_states
from tests.each import each
from tests.engine.calculators.asked import solved, views

MIX, STATE = load("layer_mix"), load("state_steps")


@each("name", list(MIX.presets))
def test_a_preset_is_the_published_order(name):
    found = solved(MIX, **MIX.presets[name])
    assert found.letters == found.own_letters
    assert found.plan.fit.verdict == "fits"


def test_the_estimate_of_a_run_file_has_the_same_step():
    found = solved(MIX, sequence_length=131_072)
    plan, training = found.plan.run.plan, found.plan.run.training
    run = {
        "model": "qwen3-next-80b-a3b",
        "sequence_length": 131_072,
        "cluster": {"gpu": "H200-SXM", "gpus_per_node": 8, "nics_per_node": 8}
        | {"nic_bandwidth": 50e9},
        "parallelism": {"world_size": 64, "context_parallel": plan.context_parallel}
        | {"expert_parallel": 64, "zero_stage": 1},
        "training": {"micro_batch_size": 1, "global_batch_size": training.global_batch_size}
        | {"precision": "bf16", "recompute": training.recompute},
    }
    assert estimate(read_run(run))["step_time"] == pytest.approx(found.step, rel=1e-9)


def test_linear_layers_save_more_the_longer_the_sequence():
    saved = [solved(MIX, sequence_length=length).saved for length in (4096, 65_536, 1 << 20)]
    assert saved == sorted(saved)
    assert saved[-1] < 4  # a quarter of the layers attends to all


def test_the_curve_goes_through_the_value_shown():
    found = solved(MIX, sequence_length=4096)
    assert found.over_length[0][0] == pytest.approx(found.operations, rel=5e-3)
    assert found.caches()[0][0] == found.cache


@each("gpus, stages", [(33, 16), (37, "16"), (100, 1), (4096, 8)])
def test_any_number_of_gpus_has_a_plan(gpus, stages):
    for model in ("gemma-3-27b", "qwen3-next-80b-a3b"):
        found = solved(
            MIX, model=model, gpus=gpus, stages=str(stages), sequence_length=1 << 20, linear=2
        )
        assert found.plan.run.plan.world_size <= gpus


def test_published_rates_are_within_what_is_said_of_them():
    found = solved(MIX).published()
    assert [row for row, _ in found] == list(MIXED_RUNS)
    ratios = [predicted / row.rate for row, predicted in found]
    assert 1.1 < min(ratios) < max(ratios) < 1.9 < SLOWER


def test_a_pattern_names_mixers_and_feed_forward_parts_and_cuts_stages():
    nano = EVERY_MODEL["nemotron-3-nano"]
    assert hybrid_pattern(nano, (52,)) == "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
    assert hybrid_pattern(nano, (26, 26)).index("|") == 26
    qwen = EVERY_MODEL["qwen3-next-80b-a3b"]
    assert hybrid_pattern(qwen, (24, 24)) == "|".join(["GEGEGE*E" * 6] * 2)
    deep = hybrid_pattern(EVERY_MODEL["deepseek-v3.2"], (61,))
    assert deep == "D-" * 3 + "DE" * 58
    latents = hybrid_pattern(EVERY_MODEL["deepseek-v3"], (61,))
    assert latents == "+-" * 3 + "+E" * 58  # Symbols.MLA in Megatron-LM


@each("key, missing", [("kimi-linear-48b-a3b", "Kimi Delta"), ("gemma-3-27b", "window")])
def test_a_kind_without_a_letter_is_named(key, missing):
    with pytest.raises(ValueError, match=missing):
        hybrid_pattern(EVERY_MODEL[key], (EVERY_MODEL[key].num_layers,))
    preset = {"kimi-linear-48b-a3b": "Kimi Linear", "gemma-3-27b": "Gemma 3 27B"}[key]
    assert missing in views(MIX, **MIX.presets[preset])["pattern"].text


def test_stages_of_whole_periods_are_balanced_and_others_are_not():
    whole, cut = (solved(load("layer_stages"), stages=stages) for stages in ("4", "16"))
    assert set(whole.attending) == {3}
    assert sorted(cut.attending) == [0] * 4 + [1] * 12
    assert whole.balance < 1.1 < 1.3 < cut.balance


def test_the_delta_rule_replaces_what_a_key_wrote():
    states = written_states("delta")
    assert states[3].state == (7, 2)
    # Cid is 10 where 3/5 x 7 + 4/5 x 2 = 5.8 stood: 4.2 go into both numbers.
    assert states[4].state == pytest.approx((7 + 2.52, 2 + 3.36))
    assert states[5].answers["Bob"] == pytest.approx(4)


def test_a_sum_answers_with_all_that_was_written():
    answers = written_states("sum")[3].answers
    assert (answers["Ann"], answers["Bob"]) == (10, 7)


@each("rule", ["delta", "sum", "fading"])
def test_the_state_between_two_halves_is_all_that_the_second_needs(rule):
    whole = written_states(rule)
    again = written_states(rule, TOKENS[3:], whole[2].state)
    assert again[-1].state == whole[-1].state


def test_keys_have_length_one():
    assert [key[0] ** 2 + key[1] ** 2 for key in KEYS.values()] == pytest.approx([1, 1, 1])


def test_full_attention_keeps_three_numbers_of_each_token():
    found = solved(STATE, window=2)
    assert (found.kept_full, found.kept_window, found.kept_state) == (18, 6, 2)
    rows = views(STATE)["answers"].rows
    assert rows[0] == ("Ann", "3, 7", "nothing", "9.52")


def test_a_mixture_says_how_many_parameters_it_has():
    """Gated DeltaNet beside 64 heads of 128: q, k and o as wide, v and a gate twice, a GQA's 8."""
    found = solved(MIX, model="llama-3-70b", full=1, linear=7, gpus=128, sequence_length=4096)
    assert found.twin_parameters == pytest.approx(70.55e9, rel=1e-3)
    attention = 2 * 8192 * 8192 + 2 * 8192 * 1024
    more = (found.parameters - found.twin_parameters) / 70  # of 80 layers seven in eight
    assert 2 < (attention + more) / attention < 4
    # Its matrices cost more at a short length, where hardly anything else counts.
    assert found.saved == pytest.approx(found.twin_parameters / found.parameters, rel=0.05)
