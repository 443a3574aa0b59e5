from dataclasses import astuple, fields

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import ACHIEVED, AchievedShares
from engine.run.parallelism import Cluster, Training
from engine.run.software import SOFTWARE
from engine.simulate.layer.device_model import rank_group, rank_rates


def rank(gpu="H100-SXM", gpus_per_node=8, **changes):
    settings = {"micro_batch_size": 1, "global_batch_size": 8, "sequence_length": 4096}
    cluster = Cluster(
        gpu=ACCELERATORS[gpu], gpus_per_node=gpus_per_node, nics_per_node=8, nic_bandwidth=50e9
    )
    return rank_rates(cluster, Training(**(settings | changes)))


def test_a_gpu_has_eight_constants():
    assert len(fields(AchievedShares)) == 8


def test_every_gpu_of_the_catalogue_has_constants():
    names = {gpu.name for gpu in ACCELERATORS.values()}
    assert set(ACHIEVED) == names, "add a row to ACHIEVED in engine/catalog/constants.py"


@pytest.mark.parametrize("name", ACHIEVED)
def test_no_gpu_reaches_more_than_its_datasheet(name):
    assert all(0 < value < 1 for value in astuple(ACHIEVED[name]))


@pytest.mark.parametrize("framework", SOFTWARE)
def test_the_optimizer_of_fused_kernels_moves_the_least(framework):
    software = SOFTWARE[framework]
    assert software.optimizer <= software.optimizer_unfused


@pytest.mark.parametrize("framework", SOFTWARE)
def test_every_family_but_deepspeed_reduces_gradients_in_single_precision(framework):
    # DeepSpeed: `communication_data_type`, that of the model where nothing is said.
    bits = 16 if framework == "deepspeed" else 32
    assert SOFTWARE[framework].gradient == bits / 8


def test_gathers_of_deepspeed_alone_take_one_port_of_a_node():
    ports = {framework: software.sharded_ports for framework, software in SOFTWARE.items()}
    assert ports == {**dict.fromkeys(SOFTWARE, 0), "deepspeed": 1}


def test_a_group_inside_a_node_runs_at_the_speed_of_its_links():
    one = rank()
    assert rank_group(one, 8, 1).bandwidth == one.scale_up


def test_one_rank_of_each_node_has_one_port():
    one = rank()
    assert rank_group(one, 4, 8).bandwidth == one.port


def test_all_ranks_of_each_node_share_all_ports():
    one = rank(gpu="A100-SXM-80GB")
    assert rank_group(one, 32, 1).bandwidth == min(8 * one.port, one.scale_up)


def test_a_group_spreads_over_as_many_nodes_as_it_needs():
    assert rank_group(rank(), 16, 2).nodes == 4


def test_a_rack_of_72_is_one_scale_up_domain_whatever_a_node_is():
    assert rank_group(rank(gpu="GB200", gpus_per_node=4), 32, 1).nodes == 1


def test_fp8_falls_back_where_the_gpu_has_none():
    assert rank(gpu="A100-SXM-80GB", precision="fp8") == rank(gpu="A100-SXM-80GB")


def test_the_first_flash_attention_is_about_half_as_fast():
    # Dao 2023: FlashAttention-2 is about twice as fast.
    first = rank(first_flash_attention=True).attention_forward
    assert first == pytest.approx(0.5 * rank().attention_forward, rel=0.25)


def test_eager_kernels_leave_the_fused_attention_as_it_is():
    assert rank(compiled=False).attention_forward == rank().attention_forward


def test_attention_of_fp8_runs_in_16_bits():
    assert rank(precision="fp8").attention_forward == rank().attention_forward


def test_flash_attention_2_is_slower_on_hopper_than_the_newer_kernels():
    assert rank(framework="fsdp").attention_forward < rank().attention_forward
