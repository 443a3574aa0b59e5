"""Machines of the catalog as clusters, and plans whose difference is read back."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.machines import cluster_of, transport_of
from engine.run.parallelism import Plan, Training
from engine.run.plan_difference import apply_plan_difference, format_plan_difference
from engine.run.run import Run
from tests.each import each


@each(
    ("machine", "transport"),
    [
        ("dgx-h100", "infiniband"),
        ("grand-teton", "roce"),
        ("a3-high", "roce"),
        ("p4d", "efa-v1"),
        ("p4de", "efa-v1"),
        ("p5", "efa-v2"),
        ("p5en", "efa-v3"),
        ("p6-b200", "efa-v4"),
        ("p6-b300", "efa-v4"),
    ],
)
def test_messages_travel_over_the_network_of_the_machine(machine, transport):
    assert transport_of(machine) == transport
    assert cluster_of(machine).transport == transport


def test_a_p4d_has_eight_gpus_and_four_ports_of_100_gigabits():
    found = cluster_of("p4d")
    assert (found.gpus_per_node, found.nics_per_node, found.nic_bandwidth) == (8, 4, 12.5e9)
    assert found.gpu.name.startswith("A100")


@each(
    ("machine", "either"),
    [("dgx-h100", False), ("dgx-b200", True), ("mi355x", False), ("p6-b300", True)],
)
def test_products_of_nvidia_from_blackwell_read_a_weight_either_way(machine, either):
    assert reads_any_operand_layout(cluster_of(machine).gpu) is either


def test_numbers_switches_words_and_lists_of_a_plan_are_read_back():
    one = Run(
        model=MODELS["llama-3-8b"],
        cluster=cluster_of("dgx-h100"),
        plan=Plan(world_size=8, stage_layers=(16, 16), sequence_parallel=True),
        training=Training(
            micro_batch_size=1, global_batch_size=8, sequence_length=4096, compiled=False
        ),
    )
    other = replace(
        one,
        plan=replace(one.plan, stage_layers=(), zero_stage=3, sequence_parallel=False),
        training=replace(one.training, framework="fsdp", compiled=True, recompute_modules=()),
    )
    text = "sequence_parallel=False zero_stage=3 stage_layers= framework=fsdp compiled=True"
    assert format_plan_difference(one, other) == text
    assert apply_plan_difference(one, text) == other
    back = (
        "sequence_parallel=True zero_stage=1 stage_layers=16,16 framework=megatron compiled=False"
    )
    assert format_plan_difference(other, one) == back
    assert apply_plan_difference(other, back) == one
