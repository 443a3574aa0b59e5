"""Documents in sequences: nothing is lost, pairs are those of the masks, and work evens out."""

from engine.simulate.layer.attention_masks import imbalance, rank_work
from engine.simulate.layer.packing import pack_balanced, pack_in_order, rank_pairs
from tests.each import each

DOCUMENTS = [(64,), (40, 8, 16), (1, 2, 3, 58), (16,) * 4, (5, 59)]


@each("cut", ["contiguous", "zigzag", "striped"])
@each("documents", DOCUMENTS)
@each("ranks", [1, 2, 4])
def test_the_pairs_of_a_rank_are_those_of_the_masks(cut, documents, ranks):
    assert rank_pairs(cut, ranks, documents) == rank_work("ring", cut, ranks, documents)


@each("documents", DOCUMENTS)
@each("ranks", [2, 4, 8])
def test_documents_cut_by_themselves_have_the_same_pairs_in_all(documents, ranks):
    expected = sum(n * (n + 1) // 2 for n in documents)
    assert sum(rank_pairs("document", ranks, documents)) == expected


def test_documents_cut_by_themselves_are_even():
    assert imbalance(rank_pairs("document", 8, (40_960, 8_192, 16_384))) == 1


def test_a_zig_zag_of_the_sequence_is_not():
    assert imbalance(rank_pairs("zigzag", 8, (40_960, 8_192, 16_384))) > 2


def stream(**changes):
    given = {"num_sequences": 4, "length": 4096, "mean": 500, "seed": 3, "long": True} | changes
    return pack_in_order(**given)


def test_every_sequence_is_full_as_documents_arrive():
    assert [sum(one) for one in stream()] == [4096] * 4


def test_a_long_document_fills_a_sequence():
    assert stream()[0] == (4096,)


@each("long", [True, False])
def test_balanced_sequences_hold_as_many_tokens(long):
    assert [sum(one) for one in pack_balanced(stream(long=long))] == [4096] * 4


def pairs(documents):
    return sum(n * (n + 1) // 2 for n in documents)


def test_balanced_sequences_have_more_even_work():
    before = stream(long=False)
    assert imbalance([pairs(one) for one in pack_balanced(before)]) < imbalance(
        [pairs(one) for one in before]
    )


def test_no_packing_divides_a_document_as_long_as_a_sequence():
    assert (4096,) in pack_balanced(stream())
