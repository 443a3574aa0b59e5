"""Max-min fair sharing: worked by hand, and its defining properties on random networks."""

import random

import pytest

from engine.simulate.network.fair_share import Flow, fair_rates, simulate_flows
from tests.each import each


def flow(*links, size=1.0):
    return Flow(size=size, links=dict.fromkeys(links, 1.0))


def network(seed):
    """Flows over random links of random capacities."""
    chance = random.Random(seed)
    capacity = {(f"l{i}",): chance.choice([1.0, 2.0, 3.5, 10.0]) for i in range(12)}
    names = sorted(capacity)
    flows = [
        flow(*chance.sample(names, chance.randint(1, 4)), size=chance.choice([1.0, 2.0, 7.0]))
        for _ in range(30)
    ]
    return flows, capacity


def load(flows, rates, link):
    return sum(rate for one, rate in zip(flows, rates, strict=True) if link in one.links)


SEEDS = each("seed", range(20))


def test_a_link_is_shared_equally():
    rates, _ = fair_rates([flow(("a",))] * 4, {("a",): 8.0})
    assert rates == (2.0,) * 4


def test_what_a_flow_held_back_elsewhere_leaves_goes_to_the_others():
    # The textbook's chain: link a (1) carries flows 0 and 1, link b (2) carries flows 0 and 2.
    flows = [flow(("a",), ("b",)), flow(("a",)), flow(("b",))]
    rates, _ = fair_rates(flows, {("a",): 1.0, ("b",): 2.0})
    assert rates == (0.5, 0.5, 1.5)


def test_a_flow_that_stands_for_several_takes_several_shares():
    flows = [Flow(size=1.0, links={("a",): 3.0}), flow(("a",))]
    rates, _ = fair_rates(flows, {("a",): 8.0})
    assert rates == (2.0, 2.0)


@SEEDS
def test_no_link_is_above_its_capacity(seed):
    flows, capacity = network(seed)
    rates, _ = fair_rates(flows, capacity)
    assert all(load(flows, rates, link) <= most * (1 + 1e-9) for link, most in capacity.items())


@SEEDS
def test_every_flow_has_a_full_link_on_which_none_is_faster(seed):
    flows, capacity = network(seed)
    rates, _ = fair_rates(flows, capacity)
    for one, rate in zip(flows, rates, strict=True):
        assert any(
            load(flows, rates, link) == pytest.approx(capacity[link])
            and rate
            >= max(r for f, r in zip(flows, rates, strict=True) if link in f.links) * (1 - 1e-9)
            for link in one.links
        )


@SEEDS
def test_the_links_named_as_holding_a_flow_back_are_full(seed):
    flows, capacity = network(seed)
    rates, held = fair_rates(flows, capacity)
    assert all(links for links in held)
    assert all(
        load(flows, rates, link) == pytest.approx(capacity[link])
        for links in held
        for link in links
    )


@SEEDS
def test_no_link_carries_more_than_its_capacity_times_the_time(seed):
    flows, capacity = network(seed)
    end = max(simulate_flows(flows, capacity).busy)
    for link, most in capacity.items():
        assert sum(one.size for one in flows if link in one.links) <= most * end * (1 + 1e-9)


@SEEDS
def test_the_busiest_link_alone_is_a_lower_bound_of_the_time(seed):
    flows, capacity = network(seed)
    bound = max(
        sum(one.size for one in flows if link in one.links) / most
        for link, most in capacity.items()
    )
    assert max(simulate_flows(flows, capacity).busy) >= bound * (1 - 1e-9)


@SEEDS
def test_flows_of_twice_the_size_take_twice_the_time(seed):
    flows, capacity = network(seed)
    larger = [Flow(size=2 * one.size, links=one.links) for one in flows]
    twice = [2 * end for end in simulate_flows(flows, capacity).busy]
    assert simulate_flows(larger, capacity).busy == pytest.approx(twice)


@SEEDS
def test_all_bytes_arrive(seed):
    """Rates integrated from event to event give every flow its size, whoever ends first."""
    flows, capacity = network(seed)
    busy = simulate_flows(flows, capacity).busy
    moved, now = [0.0] * len(flows), 0.0
    for event in sorted(set(busy)):
        going = [i for i, end in enumerate(busy) if end > now * (1 + 1e-9)]
        rates, _ = fair_rates([flows[i] for i in going], capacity)
        for i, rate in zip(going, rates, strict=True):
            moved[i] += rate * (event - now)
        now = event
    assert moved == pytest.approx([one.size for one in flows])


def test_when_a_short_flow_ends_the_other_goes_on_alone():
    # Both at 1 until 1 s; the second has 2 bytes left, alone at 2 bytes per second.
    ends = simulate_flows([flow(("a",), size=1.0), flow(("a",), size=3.0)], {("a",): 2.0}).busy
    assert ends == (1.0, 2.0)


def test_nothing_to_send_takes_no_time():
    assert simulate_flows([flow(("a",), size=0.0)], {("a",): 1.0}).busy == (0.0,)


def test_a_flow_without_a_link_is_refused():
    with pytest.raises(ValueError, match="flow 0 crosses no link"):
        fair_rates([flow()], {})


def test_a_link_without_capacity_is_refused():
    with pytest.raises(ValueError, match="has capacity 0"):
        fair_rates([flow(("a",))], {("a",): 0.0})
