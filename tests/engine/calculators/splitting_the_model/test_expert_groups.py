"""Does EP multiply my GPUs: the answer, the refusals, the groups and the drawing."""

from engine.calculator import load, make
from engine.core.text import render_text
from tests.each import each

GROUPS = load("expert_groups")


def solved(**values):
    return GROUPS.solve(make(GROUPS, values))


def views(**values):
    found = GROUPS.compute(make(GROUPS, values))
    return {key: view() if callable(view) else view for key, view in found.items()}


@each("expert", [1, 2, 4, 8, 32])
def test_whatever_ep_is_the_gpus_stay(expert):
    assert solved(expert_parallel=expert).world == 64
    assert views(expert_parallel=expert)["answer"].text == "No"


@each("preset", GROUPS.presets)
def test_the_presets_are_possible(preset):
    assert views(**GROUPS.presets[preset])["answer"].text == "No"


def test_ep_beyond_the_data_ranks_is_refused_within_them():
    answer = views(convention="within", expert_parallel=16)["answer"]
    assert answer.text == "Refused"
    assert "does not divide the 8 data-parallel ranks" in render_text(answer.sentence)


def test_cp_8_and_ep_8_need_8_gpus_folded_and_64_within():
    # Megatron Core's own example.
    found = solved(**GROUPS.presets["CP 8 and EP 8 on 8 GPUs"])
    assert (found.least, found.least_within) == (8, 64)


def test_sizes_that_do_not_multiply_to_the_gpus_are_said():
    assert "do not multiply" in views(world_size=60)["answer"].text


def test_the_table_lists_deepspeeds_groups():
    rows = {
        row[0]: render_text(row[4])
        for row in views(**GROUPS.presets["DeepSpeed's example: 16 GPUs, EP 4"])["groups"].rows
    }
    assert rows["EP"] == "0, 2, 4, 6; 1, 3, 5, 7; 8, 10, 12, 14; 9, 11, 13, 15"


def test_the_frame_of_experts_lights_the_chosen_gpus_group():
    frame = views(rank=9)["grid"].frames[3]
    lit = [s.key for s in frame.shapes if s.attributes["class"].endswith("c-expert")]
    assert lit == [f"g{rank}" for rank in range(8, 16)]


def test_the_settings_name_the_sizes():
    assert "--expert-model-parallel-size 8" in views()["flags"].text
    assert "ep_size=8" in views(convention="within")["flags"].text
