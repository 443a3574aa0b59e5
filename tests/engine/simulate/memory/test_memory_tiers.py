"""A placement: what is held adds up, and what the moves take is their bytes over their wires."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hosts import CPU_ADAM
from engine.simulate.memory.memory_tiers import (
    JobPlacement,
    place_tensors,
    shared_memory_bandwidth,
    tile_bytes,
)

HBM = dict.fromkeys(
    ("parameters", "gradients", "master", "moments", "checkpoints", "logits"), "hbm"
)


def placement(num_microbatches=1, **homes):
    return place_tensors(
        JobPlacement(
            model="llama-2-13b",
            node="dgx-h100",
            ranks=1,
            sequence_length=4096,
            micro_batch_size=1,
            num_microbatches=num_microbatches,
            homes=HBM | homes,
        )
    )


def test_what_the_memories_hold_is_all_that_there_is():
    found = placement(moments="host", checkpoints="nvme")
    assert sum(found.bytes_by_tier.values()) == pytest.approx(
        sum(found.job.sizes.values()) + found.job.gradient_copies + found.job.working
    )


def test_every_move_takes_its_bytes_over_its_wire():
    found = placement(gradients="host", master="host", moments="host")
    (gradients,) = [m for m in found.moves if m.tensor == "gradients" and not m.update]
    assert gradients.size == found.job.sizes["gradients"]
    assert gradients.time == gradients.size / ACCELERATORS["H100-SXM"].pcie


def test_with_the_moments_on_the_host_it_updates_all_parameters_at_the_measured_rate():
    found = placement(moments="host")
    assert found.on_host == found.job.parameters
    rate = CPU_ADAM.time / CPU_ADAM.parameters
    assert found.host_update == pytest.approx(found.job.parameters * rate)


def test_a_wire_is_busy_in_the_passes_and_in_the_update():
    found = placement(parameters="nvme", moments="nvme")
    busy = found.on("nvme", update=False), found.on("nvme", update=True)
    assert min(busy) > 0
    assert found.busy("nvme") == sum(busy)


def test_the_shared_memories_of_an_h100_move_31_tb_per_second():
    job = placement().job
    assert job.chip.name == "Hopper"
    assert shared_memory_bandwidth(job) == pytest.approx(132 * 128 * 1.83e9, rel=1e-3)


def test_a_tile_of_128_by_256_sums_in_fp32_fills_half_the_registers():
    sums, slices = tile_bytes()
    assert sums == 128 * 1024
    assert slices == 4 * (128 + 256) * 64 * 2
