import pytest

from engine.calculators.reference.claims_checked.calculator import TOPICS, all_claims
from engine.core.text import render_text

CLAIMS = {claim.key: claim for claims in all_claims().values() for claim in claims}


def test_a_claim_is_listed_once():
    assert len(CLAIMS) == sum(len(claims) for claims in all_claims().values())


def test_every_topic_has_claims():
    assert all(all_claims()[topic] for topic in TOPICS)


@pytest.mark.parametrize(
    ("key", "digits"),
    [
        ("E0.1", "46.5 %"),
        ("E1.1", "37.5 %"),
        ("E1.2", "43.8 %"),
        ("E1.3", "50.0 %"),
        ("E3.1", "13.04 GB"),
        ("E3.2", "456.3 ms"),
        ("E3.3", "521.5 ms"),
        ("E3.4", "3.5 ms"),
        ("E3.6", "99.2 % and 0.8 %"),
        ("E3.7", "29802+ Gbps"),
        ("E3.8", "119600G+"),
        ("E3.11", "350 GB"),
        ("E4.2", "1.0000 GB"),
        ("E4.4", "81.92 ms"),
        ("E4.5", "97.66 Gb/s"),
        ("E4.6", "512.0 MB"),
        ("E4.7", "72.7 %"),
        ("E4.3", "27.3 %"),
        ("E4.39", "38.4 %"),
        ("E4.42", "1.7 %"),
    ],
)
def test_the_published_arithmetic_gives_the_published_digits(key, digits):
    assert render_text(CLAIMS[key].printed) == digits


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("E1.1", "65.6 % at 8 GPUs, 73.8 % at 64"),
        ("E3.7", "845.1 Gb/s per GPU with 4,096 tokens"),
        ("E3.12", "linearly: 196 GB pass the root's port, 49.0 GB each port of a ring"),
        ("E4.3", "27.3 % of the step, 37.5 % over the ideal time"),
        ("E4.4", "6.80 s at half of an H100's peak"),
        ("E4.5", "1.262 Gb/s"),
        ("E4.11", "2.80 TB"),
        ("E4.37", "50.3 MB for the hidden state alone, 2.87 GB for the layer"),
        ("E4.50", "671 µs"),
        ("E4.8", "84.2 % with 16, 80.0 % with 3 stages"),
        ("E4.31", "1.75 and 1.094 with 4 stages"),
        ("E1.5", "1.00×, and 2.50× with 4 micro-batches"),
        ("E1.6", "1.50×, and 6.00× with 4 micro-batches"),
        (
            "E4.14",
            "0.412× on 8 GPUs over NVLink, 1.05× on 16 with eight ports a node, 6.73× through "
            "one port",
        ),
    ],
)
def test_the_right_number_is_the_one_worked_out_by_hand(key, right):
    assert render_text(CLAIMS[key].right) == right
