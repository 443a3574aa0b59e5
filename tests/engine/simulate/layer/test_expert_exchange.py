"""An exchange of tokens: published bytes, limits of nodes, and the one time of all pages."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.formulas.expert_places import reached
from engine.formulas.experts import exchange_bytes, hot_rank_load
from engine.run.parallelism import Cluster, Training
from engine.simulate.layer.device_model import rank_group, rank_rates
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens
from engine.simulate.layer.layer_exchange import exchange_time
from tests.each import each

RUN = Training(micro_batch_size=1, global_batch_size=64, sequence_length=4096)
H800 = Cluster(gpu=ACCELERATORS["H800-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9)
RANK = replace(rank_rates(H800, RUN), domain=8)
DEEPSEEK = MODELS["deepseek-v3"]
LIMITED = TokenRoutes(copies=8, joined=True, most=4)


def sent(ranks, routes, size=7168.0):
    return exchange_tokens(4096, size, routes, RANK, rank_group(RANK, ranks, 1, "expert"))


def test_a_token_of_deepseek_is_57_kb_out_and_115_kb_back():
    # Eight copies of 7,168 elements, in fp8 and in bf16; 235 and 470 MB for 4,096 tokens.
    whole = [exchange_bytes(4096, 8, 7168 * width, 10**9) for width in (1, 2)]
    assert [f"{x / 4096 / 1e3:.0f} {x / 1e6:.0f}" for x in whole] == ["57 235", "115 470"]


def test_two_nodes_and_two_copies_reach_one_and_a_half_nodes():
    assert reached(2, 2) == 1.5


def test_eight_copies_reach_five_and_a_quarter_of_eight_nodes_and_four_if_limited():
    assert f"{reached(8, 8):.2f}" == "5.25"
    assert reached(8, 8, 4) == 4


@each("case", [(1.0, 1.0), (4.0, 4.0)])
def test_a_hot_expert_alone_on_its_rank_makes_the_rank_as_hot(case):
    hot, load = case
    assert hot_rank_load(hot, 64, 64) == pytest.approx(load)


def test_among_eight_experts_a_hot_one_of_twice_the_mean_adds_a_tenth():
    # 7 x (64 - 2) / 63 + 2 = 8.889 over 8.
    assert hot_rank_load(2.0, 64, 8) == pytest.approx(1.1111, abs=1e-4)


def test_joined_copies_send_less_over_the_network_and_the_same_over_the_links():
    apart, joined = sent(64, TokenRoutes(copies=8, joined=False)), sent(64, LIMITED)
    assert joined.inside == apart.inside
    assert joined.across == pytest.approx(apart.across / 2)


def test_in_one_node_nothing_crosses_the_network():
    assert (sent(8, LIMITED).across, sent(8, LIMITED).across_time) == (0, 0)


def test_one_rank_sends_nothing():
    assert sent(1, LIMITED).time == 0


@each("ranks", [2, 8, 16, 64, 256])
def test_the_step_time_of_a_plan_takes_this_exchange(ranks):
    group = rank_group(RANK, ranks, 1, "expert")
    size = 2.0 * DEEPSEEK.hidden_size
    assert exchange_time(4096, DEEPSEEK, RANK, group) == sent(ranks, LIMITED, size).time
