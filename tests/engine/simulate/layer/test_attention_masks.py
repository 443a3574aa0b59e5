"""Masks over ranks: every pair counted once, the published imbalance, thresholds of overlap."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import LINKS
from engine.core.units import GB
from engine.formulas.context import (
    contiguous_imbalance,
    contiguous_share,
    overlap_tokens,
    ring_buffer,
    ring_step_bytes,
    ring_step_time,
)
from engine.simulate.layer.attention_masks import (
    document_lengths,
    even_ring_work,
    imbalance,
    lockstep_imbalance,
    rank_tokens,
    rank_work,
    ring_work,
    visible_pairs,
    work_matrix,
)
from engine.simulate.layer.ring_layouts import simulate_ring
from tests.each import each

LAYOUTS = ["contiguous", "striped", "zigzag"]
EACH = each("layout", LAYOUTS)
LONG = 65_536
PEAK = ACCELERATORS["H100-SXM"].peak["bf16"]
NVLINK, PORT = LINKS["nvlink4"].bandwidth, LINKS["infiniband_ndr"].bandwidth


def counted(queries, keys, documents):
    """The pairs one by one: the key not after the query, in the same document."""
    document = [index for index, length in enumerate(documents) for _ in range(length)]
    return sum(k <= q and document[k] == document[q] for q in queries for k in keys)


def tokens_of(layout, ranks, rank, tokens):
    return [token for piece in rank_tokens(layout, ranks, rank, tokens) for token in piece]


@EACH
@each(("ranks", "half"), [(1, 3), (2, 1), (5, 4), (8, 7)])
def test_even_pieces_have_three_kinds_of_blocks(layout, ranks, half):
    assert even_ring_work(layout, ranks, half) == ring_work(layout, ranks, (2 * ranks * half,))


@EACH
@each(("ranks", "tokens"), [(1, 7), (4, 64), (3, 50), (8, 5)])
def test_every_token_belongs_to_one_rank(layout, ranks, tokens):
    owned = [token for rank in range(ranks) for token in tokens_of(layout, ranks, rank, tokens)]
    assert sorted(owned) == list(range(tokens))


@EACH
@each("documents", [(37,), (10, 1, 26), (5,) * 8, (3, 30, 4)])
@each("ranks", [1, 3, 4])
def test_the_pairs_of_two_ranks_are_those_counted_one_by_one(layout, documents, ranks):
    tokens = sum(documents)
    owned = [tokens_of(layout, ranks, rank, tokens) for rank in range(ranks)]
    expected = [[counted(mine, other, documents) for other in owned] for mine in owned]
    assert [list(row) for row in work_matrix(layout, ranks, documents)] == expected


@EACH
@each("ranks", [1, 4, 8, 16])
def test_all_ranks_together_compute_half_of_the_square(layout, ranks):
    assert sum(rank_work("all_gather", layout, ranks, (4096,))) == 4096 * 4097 / 2


@EACH
@each("exchange", ["ring", "all_gather", "ulysses"])
def test_the_exchange_does_not_change_the_total(layout, exchange):
    documents = (1000, 500, 548)
    expected = sum(n * (n + 1) / 2 for n in documents)
    assert sum(rank_work(exchange, layout, 8, documents)) == expected


def test_ranges_that_lie_apart_are_seen_in_full():
    assert visible_pairs(range(8, 12), range(0, 8)) == 32


def test_keys_after_the_queries_are_not_seen():
    assert visible_pairs(range(0, 8), range(8, 12)) == 0


def test_a_contiguous_ring_of_8_makes_the_last_rank_work_1_875_times_the_mean():
    found = imbalance(rank_work("ring", "contiguous", 8, (LONG,)))
    assert f"{found:.3f}" == "1.875"


@each("ranks", [2, 4, 8, 16])
def test_the_formula_of_the_imbalance_is_the_one_counted(ranks):
    found = imbalance(rank_work("ring", "contiguous", ranks, (LONG,)))
    assert contiguous_imbalance(ranks) == pytest.approx(found, rel=1e-3)


def test_of_four_ranks_the_last_does_seven_sixteenths():
    work = rank_work("ring", "contiguous", 4, (LONG,))
    assert work[-1] / sum(work) == pytest.approx(7 / 16, rel=1e-4)


def test_the_formula_of_the_last_share_is_seven_sixteenths():
    assert contiguous_share(4) == 7 / 16


def test_a_contiguous_ring_of_8_wastes_47_percent():
    found = imbalance(rank_work("ring", "contiguous", 8, (LONG,)))
    assert f"{100 * (1 - 1 / found):.0f}" == "47"


@each("ranks", [2, 8, 16])
def test_zigzag_gives_all_ranks_the_same(ranks):
    assert len(set(rank_work("ring", "zigzag", ranks, (LONG,)))) == 1


def test_stripes_are_even_to_one_token_in_a_thousand():
    assert imbalance(rank_work("ring", "striped", 8, (LONG,))) == pytest.approx(1, rel=1e-3)


def test_ulysses_is_even_whatever_the_documents():
    assert imbalance(rank_work("ulysses", "contiguous", 8, (100, 900, 24))) == 1


def test_in_lockstep_a_contiguous_ring_of_16_costs_nearly_double():
    found = lockstep_imbalance(ring_work("contiguous", 16, (LONG,)))
    assert found == pytest.approx((0.5 + 15) / 8, rel=1e-3)


@each("layout", ["striped", "zigzag"])
def test_in_lockstep_even_layouts_cost_nothing(layout):
    assert lockstep_imbalance(ring_work(layout, 16, (LONG,))) == pytest.approx(1, rel=1e-2)


@each("layout", LAYOUTS)
def test_the_first_step_of_a_ring_works_on_a_ranks_own_keys(layout):
    matrix = work_matrix(layout, 4, (64,))
    assert ring_work(layout, 4, (64,))[0] == tuple(matrix[r][r] for r in range(4))


def test_in_a_contiguous_ring_early_ranks_idle():
    # Rank 0 sees its own keys only.
    assert [step[0] for step in ring_work("contiguous", 4, (64,))] == [136, 0, 0, 0]


def test_short_documents_unbalance_the_zigzag():
    # One long document at the end: its pairs lie with the ranks that hold the end.
    assert imbalance(rank_work("ring", "zigzag", 4, (8,) * 64 + (512,))) > 1.1


def test_documents_are_cheaper_than_one_sequence():
    whole, cut = (sum(rank_work("ring", "zigzag", 4, d)) for d in ((1024,), (512, 512)))
    assert cut < 0.51 * whole


def test_document_lengths_fill_the_sequence():
    assert sum(document_lengths(10_000, 300, seed=3)) == 10_000


def test_document_lengths_have_their_mean():
    lengths = document_lengths(1_000_000, 500, seed=3)
    assert 1_000_000 / len(lengths) == pytest.approx(500, rel=0.07)


def test_the_same_seed_packs_the_same_documents():
    assert document_lengths(5000, 100, 7) == document_lengths(5000, 100, 7)


def test_a_sequence_without_tokens_is_refused():
    with pytest.raises(ValueError, match="documents have 0 tokens"):
        work_matrix("zigzag", 2, ())


@each(
    ("bandwidth", "group", "printed"),
    [(NVLINK, 1, "2,198"), (PORT, 1, "19,780"), (NVLINK, 8, "275"), (PORT, 8, "2,472")],
)
def test_a_ring_step_is_hidden_from_as_many_tokens_as_derived(bandwidth, group, printed):
    assert f"{overlap_tokens(PEAK, bandwidth, group):,.0f}" == printed


def test_a_causal_mask_doubles_the_threshold():
    assert overlap_tokens(PEAK, PORT, visible=0.5) == 2 * overlap_tokens(PEAK, PORT)


@each("group", [1, 8])
def test_at_the_threshold_a_step_computes_as_long_as_its_block_travels(group):
    tokens, width = overlap_tokens(PEAK, PORT, group), 8192
    travels = ring_step_bytes(tokens, width // group, 2.0) / PORT
    assert ring_step_time(tokens, width, PEAK) == pytest.approx(travels)


@each(("tokens", "printed"), [(131_072, "0.54"), (1_048_576, "4.29")])
def test_a_double_buffer_of_keys_and_values_takes_half_a_gigabyte_at_128k(tokens, printed):
    assert f"{ring_buffer(tokens / 8, 8192, 1.0, 2) / GB:.2f}" == printed


def even(take, ranks=6):
    return [[take] * ranks for _ in range(ranks)]


def test_with_two_buffers_slow_links_leave_only_the_first_block_hidden():
    assert simulate_ring(even(1.0), 3.0).end == 5 * 3.0 + 1.0


def test_with_two_buffers_fast_links_cost_nothing():
    assert simulate_ring(even(3.0), 1.0).end == 18.0


def test_with_one_buffer_nothing_overlaps():
    assert simulate_ring(even(3.0), 1.0, num_buffers=1).end == 6 * 3.0 + 5 * 1.0


@each("buffers", [1, 2, 3, 4])
def test_more_buffers_are_never_slower(buffers):
    work = [[float(1 + (r * s) % 4) for r in range(6)] for s in range(6)]
    fewer, more = (simulate_ring(work, 1.5, number).end for number in (buffers, buffers + 1))
    assert more <= fewer


def test_a_free_link_leaves_the_busiest_rank():
    run = simulate_ring([[1.0, 2.0], [3.0, 5.0]], 0.0, num_buffers=3)
    assert run.end == run.busiest == 7.0


@each("buffers", [1, 2, 3])
def test_no_rank_computes_on_a_block_before_it_arrived(buffers):
    run = simulate_ring(ring_work("contiguous", 6, (96,)), 40.0, buffers)
    assert all(turn.start >= turn.arrived >= turn.sent for turn in run.turns)


@each("buffers", [1, 2, 3])
def test_every_rank_sees_every_block_once(buffers):
    run = simulate_ring(even(1.0), 1.0, buffers)
    seen = {rank: [] for rank in range(6)}
    for turn in run.turns:
        seen[turn.rank].append(turn.source)
    assert all(sorted(sources) == list(range(6)) for sources in seen.values())


@each("buffers", [2, 3])
def test_a_rank_never_holds_more_blocks_than_buffers(buffers):
    run = simulate_ring(ring_work("contiguous", 6, (96,)), 40.0, buffers)
    by = {(turn.step, turn.rank): turn for turn in run.turns}
    for step in range(buffers, 6):
        for rank in range(6):
            old = by[step - buffers, rank]
            passed_on = by[step - buffers + 1, (rank + 1) % 6].arrived
            assert by[step, rank].sent >= max(old.end, passed_on)


def test_below_the_threshold_the_ring_waits_and_above_it_does_not():
    width, ends = 8192, []
    for factor in (0.9, 1.1):
        tokens = factor * overlap_tokens(PEAK, PORT)
        take = ring_step_time(tokens, width, PEAK)
        run = simulate_ring(even(take), ring_step_bytes(tokens, width, 2.0) / PORT)
        ends.append(run.end / run.busiest)
    assert ends[0] > 1.05
    assert ends[1] == pytest.approx(1)


def test_a_ring_without_buffers_is_refused():
    with pytest.raises(ValueError, match="num_buffers is 0; at least 1 is needed"):
        simulate_ring(even(1.0), 1.0, 0)
