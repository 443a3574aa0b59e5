"""The ledger of a layer against the published sum of its rows."""

from engine.simulate.memory.activation_ledger import layer_ledger


def total(s, b, h, a):
    return sum(entry.size for entry in layer_ledger(s, b, h, a))


def test_a_layer_of_gpt_3_keeps_what_korthikanti_counts():
    # sbh(34 + 5as/h), 2.86 GB of GPT-3 175B with 2,048 tokens.
    assert total(2048, 1, 12_288, 96) == 2048 * 12_288 * 34 + 5 * 96 * 2048**2


def test_four_tokens_of_width_eight_by_hand():
    # 4 x 8 x 34 bytes, and 5 x 2 heads x 4 x 4 of scores.
    assert total(4, 1, 8, 2) == 1088 + 160
