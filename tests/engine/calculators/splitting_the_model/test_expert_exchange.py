"""The exchange of tokens: published bytes and bandwidths, and one answer with the step time."""

import pytest

from engine.calculator import load, make
from engine.calculators.splitting_the_model.expert_exchange.result import job_of, wires
from engine.catalog.measured_exchanges import MEASURED_EXCHANGES
from engine.core.text import render_text
from engine.simulate.layer.layer_exchange import exchange_time
from tests.each import each

LAB = load("expert_exchange")
HALF = {"dispatch": "bf16", "combine": "bf16"}


def solved(**values):
    return LAB.solve(make(LAB, values))


def views(**values):
    found = LAB.compute(make(LAB, values))
    return {key: view() if callable(view) else view for key, view in found.items()}


def test_a_token_of_deepseek_is_57_kb_out_and_115_back():
    found = solved()
    assert [f"{x / 1e3:.0f}" for x in (found.token_out, found.token_back)] == ["57", "115"]


@each("ranks", [2, 8, 16, 64, 256])
def test_in_16_bits_it_is_the_exchange_of_every_other_page(ranks):
    inputs = make(LAB, {**HALF, "expert_parallel": ranks})
    job = job_of(inputs)
    one = exchange_time(inputs.num_tokens, job.model, job.rank, job.group)
    assert LAB.solve(inputs).time == pytest.approx(2 * one)


def test_one_copy_per_node_and_fewer_nodes_save_time():
    times = [
        solved(way="copies", nodes_limit=0).time,
        *(solved(nodes_limit=limit).time for limit in (0, 4, 2)),
    ]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 4


def test_in_one_rack_nothing_crosses_the_network():
    assert solved(machine="gb200-nvl72").across == 0


def test_a_hot_expert_makes_its_rank_and_so_all_wait():
    even, hot = solved(), solved(hot=4.0)
    assert hot.time == pytest.approx(hot.load * even.time)
    assert hot.products == pytest.approx(hot.load * even.products)


def test_the_published_formula_leaves_the_experts_of_a_token_out():
    found = solved(**HALF, expert_parallel=256)
    assert found.sent / found.claimed == pytest.approx(8 * 255 / 256)


@each("at", [2, 3])
def test_over_32_and_64_gpus_deepep_is_at_the_modelled_rate_of_the_port(at):
    network, _ = wires(MEASURED_EXCHANGES[at])
    assert network == pytest.approx(job_of(make(LAB, {"machine": "h800"})).rank.port, rel=0.03)


def test_over_16_gpus_deepep_is_near_the_modelled_rate_of_the_links():
    network, links = wires(MEASURED_EXCHANGES[1])
    job = job_of(make(LAB, {"machine": "h800"}))
    assert network < 0.5 * job.rank.port
    assert links == pytest.approx(job.out.link, rel=0.1)


def test_the_table_names_the_wire_nearer_its_limit():
    assert [render_text(row[6]) for row in views()["measured"].rows] == [
        "links",
        "links",
        "network",
        "network",
    ]


def test_the_point_of_the_chart_is_the_value_shown():
    assert views(expert_parallel=16)["over_ranks"].points[0].y == solved(expert_parallel=16).time


def test_the_bars_hold_the_bytes_of_the_limit_that_is_set():
    bars = {bar.key: bar.segments[0].value for bar in views()["over_limits"].bars}
    assert bars["limit4"] == pytest.approx(solved().across)
