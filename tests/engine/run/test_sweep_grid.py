"""A grid of jobs: its points, and what of it is refused."""

import pytest

from engine.run.document import InputError
from engine.run.sweep_grid import planner_request, read_grid
from tests.each import each

MACHINES = {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 5e10}
CLUSTER = {"name": "a", "world_size": 16, **MACHINES}
GRID = {
    "models": ["llama-3-8b"],
    "clusters": [CLUSTER],
    "prices": [3.6],
    "sequence_lengths": [4096],
    "global_batch_tokens": 131_072,
}
LENGTHS = "sequence_lengths: {}; allowed: lengths that divide 131072 tokens"
PRICES = "prices: {}; allowed: numbers from 0, of a GPU for an hour"
NAMES = "clusters: every one needs a name of its own"


def problems(document):
    with pytest.raises(InputError) as caught:
        read_grid(document)
    return caught.value.problems


def test_a_point_is_a_request_of_the_planner():
    (one,) = read_grid(GRID)
    assert (one.cluster, len(one.key)) == ("a", 16)
    assert one.prices == pytest.approx((0.001,))
    assert one.request == {
        "model": "llama-3-8b",
        "sequence_length": 4096,
        "cluster": MACHINES,
        "world_size": 16,
        "global_batch_size": 32,
        "count": 1,
        "tokens": 0,
    }
    assert (planner_request(one).count, planner_request(one).job.world_size) == (1, 16)


def test_what_holds_for_all_points_is_in_every_request():
    same = {"kept_free": 0.1, "choose": {"tensor_parallel": [1]}, "training": {"compiled": False}}
    (one,) = read_grid({**GRID, **same, "tokens": 1000})
    assert {key: one.request[key] for key in same} == same
    assert one.request["tokens"] == 1000


def test_points_come_by_model_then_cluster_then_length():
    many = {
        "models": ["llama-3-8b", "llama-7b"],
        "clusters": [CLUSTER, {**CLUSTER, "name": "b"}],
        "sequence_lengths": [4096, 2048],
    }
    found = read_grid({**GRID, **many})
    told = [(one.request["model"], one.cluster, one.request["sequence_length"]) for one in found]
    assert told == [
        (model, cluster, length)
        for model in ("llama-3-8b", "llama-7b")
        for cluster in ("a", "b")
        for length in (4096, 2048)
    ]


@each(
    ("changed", "problem"),
    [
        ({"models": []}, "models: []; allowed: a list, not empty"),
        ({"prices": 3}, "prices: 3; allowed: a list, not empty"),
        ({"global_batch_tokens": 0}, "global_batch_tokens: 0; allowed: a whole number from 1"),
        (
            {"global_batch_tokens": True},
            "global_batch_tokens: true; allowed: a whole number from 1",
        ),
        ({"global_batch_tokens": 8.0}, "global_batch_tokens: 8.0; allowed: a whole number from 1"),
        ({"prices": [-0.1]}, PRICES.format(-0.1)),
        ({"prices": [True]}, PRICES.format("true")),
        ({"prices": [1, "2"]}, PRICES.format('"2"')),
        ({"sequence_lengths": [4096, 0]}, LENGTHS.format(0)),
        ({"sequence_lengths": [True]}, LENGTHS.format("true")),
        ({"sequence_lengths": [4096.0]}, LENGTHS.format(4096.0)),
        ({"sequence_lengths": [3000]}, LENGTHS.format(3000)),
        ({"clusters": [CLUSTER, CLUSTER]}, NAMES),
        ({"clusters": [{**CLUSTER, "name": ""}]}, NAMES),
        ({"clusters": [{**CLUSTER, "name": 5}]}, NAMES),
        ({"clusters": [MACHINES]}, NAMES),
        ({"clusters": ["a"]}, NAMES),
    ],
)
def test_what_makes_no_grid_is_named(changed, problem):
    assert problems({**GRID, **changed}) == (problem,)


@each("key", ["models", "clusters", "prices", "sequence_lengths"])
def test_a_list_that_is_left_out_is_missing(key):
    (problem,) = problems({name: given for name, given in GRID.items() if name != key})
    assert problem.startswith(f"{key}: ")
    assert problem.endswith("; allowed: a list, not empty")


def test_what_the_planner_refuses_is_told_with_the_machines():
    without = {key: one for key, one in CLUSTER.items() if key != "world_size"}
    (problem,) = problems({**GRID, "clusters": [CLUSTER, {**without, "name": "b"}]})
    assert problem == "b: world_size: null; allowed: a whole number from 1 to 1048576"
    (problem,) = problems({**GRID, "training": {"precision": "fp8"}})
    assert problem.startswith('a: training.precision: "fp8"; unknown key; allowed: ')


def test_a_grid_is_an_object_with_known_keys():
    assert problems([]) == ("grid: []; allowed: an object",)
    (problem,) = problems({**GRID, "model": 1})
    assert problem.startswith("model: 1; unknown key; allowed: models, clusters, prices, ")


def test_prices_may_be_0_and_a_batch_one_sequence():
    (one,) = read_grid(
        {
            **GRID,
            "prices": [0],
            "clusters": [{**CLUSTER, "world_size": 1}],
            "global_batch_tokens": 4096,
        }
    )
    assert (one.prices, one.request["global_batch_size"]) == ((0,), 1)


@each("given", ["many", None, True, 2.5, -1, float("inf"), float("nan")])
def test_a_number_of_tokens_is_whole(given):
    with pytest.raises(InputError, match=r"tokens: .*; allowed: a whole number from 0"):
        read_grid({**GRID, "tokens": given})


def test_tokens_may_be_written_with_an_exponent():
    (one,) = read_grid({**GRID, "tokens": 1e12})
    assert one.request["tokens"] == 10**12


@each("price", [float("nan"), float("inf"), -1, "2", True])
def test_a_price_is_a_number(price):
    with pytest.raises(InputError, match="prices: "):
        read_grid({**GRID, "prices": [price]})
