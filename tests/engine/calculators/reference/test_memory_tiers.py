"""Offloading: the published bandwidths and latencies, and what a placement holds and moves."""

import pytest

from engine.answer import reply
from engine.calculator import load, make
from engine.calculators.reference.memory_tiers.result import TENSORS, TIERS, Inputs
from engine.catalog.hosts import CPU_ADAM, HOSTS
from engine.core.units import GB, TB, TERA
from engine.formulas.activations import HALF, SINGLE
from engine.formulas.offload import (
    ACTIVATION_MOVES,
    GRADIENT_STORES,
    OPTIMIZER_MOVES,
    PARAMETER_LOADS,
    host_update_time,
    moving_time,
    offload_efficiency,
    overlapped_step_time,
    recomputed_time,
)

# "Bandwidth requirements" of ZeRO-Infinity: what a V100 reaches where nothing holds it up.
RATE = 70 * TERA
OFFLOAD = {"gradients_in": "host", "master_in": "host", "moments_in": "host"}
# The paper counts a gradient in fp32 among the 16 bytes of the optimizer.
PUBLISHED_OPTIMIZER = 4 * SINGLE


def efficiency(tokens, size, times, bandwidth, parameters=1e9):
    """The efficiency of the paper, for one tensor of `size` bytes per parameter."""
    compute = recomputed_time(parameters, tokens, 1.0, RATE)
    return offload_efficiency(compute, moving_time(parameters * size, times, bandwidth))


def place(inputs):
    return load("memory_tiers").solve(inputs).placed


def shown(**values):
    calculator = load("memory_tiers")
    return calculator.compute(make(calculator, values))


def wires(placement):
    """Bytes by wire and phase."""
    found = {}
    for move in placement.moves:
        key = (move.wire, "update" if move.update else "passes")
        found[key] = found.get(key, 0.0) + move.size
    return found


def test_70_gb_per_second_for_parameters_and_gradients_reach_half_at_the_smallest_batch():
    times = PARAMETER_LOADS + GRADIENT_STORES
    assert 0.50 < efficiency(1024, HALF, times, 70 * GB) < 0.51


def test_optimizer_states_need_four_times_the_bandwidth_for_the_same_efficiency():
    both = efficiency(1024, HALF, PARAMETER_LOADS + GRADIENT_STORES, 70 * GB)
    states = efficiency(1024, PUBLISHED_OPTIMIZER, OPTIMIZER_MOVES, 4 * 70 * GB)
    assert states == pytest.approx(both)


def test_1500_gb_per_second_for_optimizer_states_exceed_90_percent_at_two_sequences():
    assert 0.90 < efficiency(2 * 1024, PUBLISHED_OPTIMIZER, OPTIMIZER_MOVES, 1.5 * TB) < 0.92


def checkpoint_efficiency(hidden_size, bandwidth):
    """12 h^2 parameters a layer; its input of one token is 2 h bytes."""
    size = HALF * hidden_size * 1024 / (12 * hidden_size**2)
    return efficiency(1024, size, ACTIVATION_MOVES, bandwidth)


def test_2_gb_per_second_for_checkpoints_reach_half_at_a_hidden_size_of_2048():
    assert 0.5 < checkpoint_efficiency(2048, 2 * GB) < 0.6


def test_3_gb_per_second_for_checkpoints_exceed_80_percent_at_a_hidden_size_of_8192():
    assert checkpoint_efficiency(8192, 3 * GB) > 0.8


@pytest.mark.parametrize(("parameters", "published"), [(4e9, 1.03), (10e9, 2.57)])
def test_cpu_adam_takes_the_published_time(parameters, published):
    time = host_update_time(parameters, CPU_ADAM.parameters, CPU_ADAM.time)
    assert time == pytest.approx(published, rel=0.005)


def test_a_step_at_best_hides_the_passes_and_not_the_update():
    assert overlapped_step_time(2.0, 1.5, 0.25) == 2.25


def test_zero_offload_sends_four_bytes_per_parameter_over_pcie():
    found = place(Inputs(**OFFLOAD))
    moved = sum(move.size for move in found.moves if move.wire == "host")
    assert moved == pytest.approx(4 * found.job.parameters)


def test_zero_offload_leaves_two_bytes_per_parameter_on_the_gpu():
    found = place(Inputs(**OFFLOAD))
    states = found.bytes_by_tier["hbm"] - found.job.working
    states -= found.job.sizes["checkpoints"] + found.job.sizes["logits"]
    assert states == pytest.approx(2 * found.job.parameters)


def test_in_hbm_the_states_of_8b_are_128_gb():
    sizes = place(Inputs()).job.sizes
    states = sum(sizes[key] for key in ("parameters", "gradients", "master", "moments"))
    assert states == pytest.approx(16 * 8.03e9, rel=1e-3)


def test_an_8b_model_does_not_fit_one_h100():
    assert place(Inputs()).over() == ("hbm",)


def test_an_8b_model_fits_one_h100_when_moments_and_master_copy_are_with_the_host():
    assert place(Inputs(moments_in="host")).over() == ("hbm",)
    assert not place(Inputs(moments_in="host", master_in="host")).over()


def test_with_the_moments_in_idle_gpus_the_gpu_updates():
    found = place(Inputs(moments_in="peer"))
    assert found.host_update == 0
    assert wires(found)["peer", "update"] == pytest.approx(2 * found.job.sizes["moments"])


def test_parameters_on_the_drives_are_read_three_times_per_micro_batch():
    found = place(Inputs(parameters_in="nvme", num_microbatches=4))
    assert wires(found)["nvme", "passes"] == 12 * found.job.sizes["parameters"]


def test_moments_with_the_host_cross_no_wire():
    found = place(Inputs(moments_in="host"))
    assert not [move for move in found.moves if move.tensor == "moments"]


def test_moments_in_hbm_cross_pcie_never():
    assert ("host", "update") not in wires(place(Inputs(master_in="peer")))


def test_eight_gpus_of_a_job_leave_none_idle():
    found = place(Inputs(ranks=8, moments_in="peer"))
    assert found.tiers["peer"].capacity == 0
    assert found.over() == ("peer",)


def test_eight_gpus_share_the_drives_of_their_node():
    one, eight = (place(Inputs(ranks=ranks)).tiers["nvme"].read for ranks in (1, 8))
    assert eight == one / 8 == HOSTS["dgx-h100"].read / 8


def test_more_micro_batches_spread_the_update():
    few, many = (shown(**OFFLOAD, num_microbatches=count)["efficiency"].value for count in (1, 64))
    assert few < many


def test_shared_memory_of_an_h100_moves_31_tb_per_second():
    rows = {row[0]: row for row in shown()["memories"].rows}
    rate, _ = rows["shared memory"][2].numbers["b"]
    assert rate == pytest.approx(132 * 128 * 1.83e9, rel=1e-3)


@pytest.mark.parametrize("tensor", TENSORS)
def test_every_tensor_can_be_dragged_to_its_neighbors(tensor):
    shapes = shown(**{f"{tensor}_in": "peer"})["shelves"].frames[0].shapes
    grip = next(s.attributes for s in shapes if s.attributes.get("data-grip-key") == tensor)
    assert (grip["data-ahead"], grip["data-back"]) == ("hbm", "host")


def test_the_address_of_a_placement_holds_it():
    answered = reply({"calculator": "memory_tiers", "values": {"moments_in": "host"}})
    assert answered["inputs"]["moments_in"]["value"] == "host"


def test_the_memories_become_larger_downward():
    capacities = [place(Inputs()).tiers[key].capacity for key in TIERS]
    assert capacities == sorted(capacities)
