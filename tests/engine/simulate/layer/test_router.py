"""The router of a mixture of experts: nothing lost, drops as the binomial says, balance."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from engine.formulas.experts import dropped_share, expert_capacity
from engine.simulate.layer.router import Router, balance_loss, gate_scores, route_tokens
from engine.simulate.layer.router_life import loss_gradient, train_router

# Tokens of a batch, and routers that differ in all that matters.
TOKENS = 96
ROUTERS = [
    Router(),
    Router(experts_per_token=2, capacity_factor=1.25, keep="likeliest", skew=1.0),
    Router(num_experts=16, experts_per_token=4, gate="sigmoid", balance="bias", skew=1.0),
    Router(experts_per_token=8, capacity_factor=0.5, balance="loss"),
]
EACH = pytest.mark.parametrize("router", ROUTERS, ids=["switch", "gshard", "deepseek", "all"])


def batches(router, num_steps=3):
    return [step.routing for step in train_router(router, TOKENS, num_steps)]


def mean_of(router, tokens, num_steps):
    """The mean share dropped over batches, and the error of that mean."""
    found = [step.routing.dropped_share for step in train_router(router, tokens, num_steps)]
    return fmean(found), stdev(found) / len(found) ** 0.5


@EACH
def test_routed_and_dropped_choices_are_all_choices(router):
    for routing in batches(router):
        choices = TOKENS * router.experts_per_token
        assert sum(routing.taken) + routing.dropped == choices


@EACH
def test_as_many_are_kept_as_the_experts_take(router):
    for routing in batches(router):
        counts = [0] * router.num_experts
        for ids, kept in zip(routing.chosen, routing.kept, strict=True):
            for i, inside in zip(ids, kept, strict=True):
                counts[i] += inside
        assert tuple(counts) == routing.taken


@EACH
def test_a_token_chooses_different_experts(router):
    for routing in batches(router):
        assert {len(set(ids)) for ids in routing.chosen} == {router.experts_per_token}


@EACH
def test_no_expert_takes_more_than_its_capacity(router):
    for routing in batches(router):
        assert max(routing.taken) <= routing.capacity


@EACH
def test_the_same_seed_gives_the_same_routing(router):
    assert batches(router) == batches(router)


def test_another_seed_gives_another_routing():
    assert batches(ROUTERS[0])[0].chosen != batches(replace(ROUTERS[0], seed=2))[0].chosen


@pytest.mark.parametrize(("tokens", "printed"), [(64, "13"), (4096, "1.6")])
def test_routing_by_chance_drops_13_percent_of_64_tokens_and_1_6_percent_of_4096(tokens, printed):
    share = dropped_share(expert_capacity(tokens, 8, 1, 1.0), tokens, 1 / 8)
    assert f"{100 * share:.2g}" == printed


@pytest.mark.parametrize(("tokens", "num_steps"), [(64, 400), (1024, 30)])
def test_the_simulated_drops_are_those_of_the_binomial_formula(tokens, num_steps):
    found, error = mean_of(Router(), tokens, num_steps)
    assert found == pytest.approx(dropped_share(tokens // 8, tokens, 1 / 8), abs=3 * error)


def test_the_binomial_formula_holds_for_two_experts_per_token():
    found, error = mean_of(Router(experts_per_token=2), 64, 400)
    assert found == pytest.approx(dropped_share(16, 64, 2 / 8), abs=3 * error)


def test_two_tokens_and_two_experts_drop_a_quarter():
    # Both choose the same expert half of the time, and then one of the two is dropped.
    assert dropped_share(1, 2, 0.5) == pytest.approx(0.25)


@pytest.mark.parametrize("capacity", [64, 100])
def test_room_for_all_drops_nothing(capacity):
    assert dropped_share(capacity, 64, 1 / 8) == 0


def test_one_expert_of_half_the_room_drops_half():
    assert dropped_share(32, 64, 1.0) == 0.5


def test_an_expert_takes_its_even_share_times_the_factor_rounded_up():
    assert [expert_capacity(64, 8, 1, f) for f in (1.0, 1.1, 1.25, 2.0)] == [8, 9, 10, 16]


def test_without_a_limit_nothing_is_dropped():
    router = Router(capacity_factor=0.0, skew=2.0)
    assert [routing.dropped for routing in batches(router)] == [0, 0, 0]


def test_the_likeliest_tokens_are_kept():
    router = Router(num_experts=2, keep="likeliest")
    routing = route_tokens(router, ((1.0, 0.0), (3.0, 0.0), (2.0, 0.0), (0.0, 0.5)))
    assert routing.kept == ((False,), (True,), (True,), (True,))


def test_the_first_tokens_are_kept():
    routing = route_tokens(Router(num_experts=2), ((1.0, 0.0), (3.0, 0.0), (2.0, 0.0), (0.0, 0.5)))
    assert routing.kept == ((True,), (True,), (False,), (True,))


def test_the_auxiliary_loss_is_1_at_perfect_balance():
    # Four tokens, each sure of an expert of its own (Fedus et al. 2022, equation 4).
    rows = tuple(tuple(40.0 * (i == j) for j in range(4)) for i in range(4))
    assert balance_loss(route_tokens(Router(num_experts=4), rows)) == pytest.approx(1.0)


def test_the_auxiliary_loss_is_1_where_the_router_has_no_opinion():
    rows = ((0.0, 0.0, 0.0, 0.0),) * 4
    assert balance_loss(route_tokens(Router(num_experts=4), rows)) == pytest.approx(1.0)


def test_the_auxiliary_loss_is_the_number_of_experts_when_one_gets_all():
    rows = ((40.0, 0.0, 0.0, 0.0),) * 4
    assert balance_loss(route_tokens(Router(num_experts=4), rows)) == pytest.approx(4.0)


def test_several_experts_per_token_keep_the_loss_1_at_balance():
    router = Router(num_experts=4, experts_per_token=2)
    rows = ((9.0, 9.0, 0.0, 0.0), (0.0, 0.0, 9.0, 9.0))
    assert balance_loss(route_tokens(router, rows)) == pytest.approx(1.0)


def imbalances(router, num_steps):
    """Most over mean load, summed over the first ten and over the last ten steps."""
    asked = [step.routing.asked for step in train_router(router, TOKENS, num_steps)]
    found = []
    for ten in (asked[:10], asked[-10:]):
        loads = [sum(counts) for counts in zip(*ten, strict=True)]
        found.append(max(loads) / fmean(loads))
    return found


SKEWED = Router(skew=1.0, gate="sigmoid", capacity_factor=0.0)


def test_a_router_left_alone_stays_uneven():
    before, after = imbalances(SKEWED, 120)
    assert after == pytest.approx(before, rel=0.15)


@pytest.mark.parametrize("balance", ["bias", "loss"])
def test_balancing_lowers_the_maximum_load(balance):
    router = replace(SKEWED, balance=balance, bias_rate=0.01, loss_weight=0.05)
    before, after = imbalances(router, 120)
    assert (after - 1) < 0.5 * (before - 1)


def test_a_heavier_auxiliary_loss_balances_better():
    light = replace(SKEWED, balance="loss", loss_weight=0.001)
    heavy = replace(SKEWED, balance="loss", loss_weight=0.05)
    assert imbalances(heavy, 120)[1] < imbalances(light, 120)[1]


def test_a_bias_changes_the_choice_and_not_the_weight():
    router = Router(num_experts=2, gate="sigmoid")
    routing = route_tokens(router, ((1.0, 0.5),), (0.0, 1.0))
    assert (routing.chosen, routing.weights) == (((1,),), ((gate_scores((0.5,), "sigmoid")[0],),))


def test_biases_move_by_their_rate_toward_the_idle():
    router = replace(SKEWED, balance="bias", bias_rate=0.001)
    first, second = train_router(router, TOKENS, 2)
    even = TOKENS / router.num_experts
    signs = [(even > n) - (even < n) for n in first.routing.asked]
    assert second.biases == pytest.approx([0.001 * sign for sign in signs])


def test_the_bias_leaves_the_preferences_alone():
    last = list(train_router(replace(SKEWED, balance="bias"), TOKENS, 20))
    assert last[0].preferences == last[-1].preferences


def test_the_gradient_of_the_loss_is_its_difference():
    # The counts are held fixed, so only the mean scores move: nudge one preference and compare.
    router = Router(num_experts=3, capacity_factor=0.0)
    rows = ((0.3, 0.1, -0.2), (1.0, 0.2, 0.0), (0.1, 0.5, 0.4))
    small = 1e-6
    nudged = tuple((a + small, b, c) for a, b, c in rows)
    slope = (
        balance_loss(route_tokens(router, nudged)) - balance_loss(route_tokens(router, rows))
    ) / small
    assert loss_gradient(route_tokens(router, rows))[0] == pytest.approx(slope, rel=1e-4)


def test_sigmoid_scores_of_enormous_logits_are_finite():
    assert gate_scores((1e6, -1e6), "sigmoid") == pytest.approx((1.0, 0.0))
