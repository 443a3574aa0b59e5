"""Constants of a reader's own: their text, and what they replace."""

import re

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.reader_constants import format_constants, gpu_constants, parse_constants
from tests.each import each

TEXT = "H100-SXM,matmul:0.652:0.01,fill:4.2e-06:0.1,network:0.71:0.02,pace.16.megatron:1.04"
WRONG = {
    "RTX-9090,matmul:0.6:0.01": "no GPU of the catalog is named 'RTX-9090'",
    "H100-SXM,matmul:0.6": "'matmul' has 1 numbers",
    "H100-SXM,matmul:lots:0.1": "'lots' is no number",
    "H100-SXM,matmul:9:0.1": "allowed: from 0.001 to 3",
    "H100-SXM,matmul:nan:0.1": "allowed: from 0.001 to 3",
    "H100-SXM,speed:0.6:0.1": "'speed'; allowed once each",
    "H100-SXM,matmul:0.6:0.1,matmul:0.7:0.1": "'matmul'; allowed once each",
    "H100-SXM,pace.16.jax:1.1": "allowed: pace.BITS.SOFTWARE",
    "H100-SXM," + "x" * 1000: "characters; allowed",
}


def test_a_text_that_is_read_and_written_again_is_the_same():
    assert format_constants(parse_constants(TEXT)) == TEXT


def test_an_empty_text_is_no_constants():
    assert parse_constants(" ") is None


@each("text", WRONG)
def test_a_text_that_says_something_else_is_refused_with_the_reason(text):
    with pytest.raises(ValueError, match=re.escape(WRONG[text])):
        parse_constants(text)


def test_what_was_measured_replaces_the_catalog_and_nothing_else_does():
    gpu = ACCELERATORS["H100-SXM"]
    found, table = gpu_constants(gpu, parse_constants(TEXT)), achieved_shares(gpu)
    assert (found.matmul, found.fill, found.network) == (0.652, 4.2e-6, 0.71)
    assert (found.memory, found.scale_up) == (table.memory, table.scale_up)


def test_constants_of_one_gpu_do_not_count_on_another():
    gpu = ACCELERATORS["A100-SXM-80GB"]
    assert gpu_constants(gpu, parse_constants(TEXT)) == achieved_shares(gpu)


def test_the_pace_of_a_log_is_that_of_its_precision_and_software():
    own = parse_constants(TEXT)
    paces = [own.of_job(*job) for job in (("bf16", "megatron"), ("fp16", "megatron"))]
    others = [own.of_job(*job) for job in (("fp8", "megatron"), ("bf16", "fsdp"))]
    assert (paces, others) == ([1.04, 1.04], [1.0, 1.0])
