"""Measured and modeled rates of fused attentions on an H100."""

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.measured_timings import ATTENTION_HEADS, ATTENTION_TOKENS, TimedAttention
from engine.core.units import FlopRate, Ratio, Seconds
from engine.formulas.compute import MULTIPLY_ADD, flash_attention_time
from engine.simulate.layer.device_model import OLD_INSTRUCTIONS
from engine.simulate.layer.layer_time import ATTENTION_BACKWARD

GPU, HEAD_SIZE = ACCELERATORS["H100-SXM"], 128


def measured_and_modeled_rates(row: TimedAttention, backward: bool) -> tuple[FlopRate, FlopRate]:
    """Return the measured and the modeled rate, counting the causal half of the operations."""
    sequences = ATTENTION_HEADS * ATTENTION_TOKENS / row.length
    products: Ratio = 2 * (ATTENTION_BACKWARD if backward else 1.0)
    operations = products * MULTIPLY_ADD * sequences * row.length**2 / 2 * HEAD_SIZE
    measured = row.backward if backward else row.forward
    return operations / measured, operations / _modeled_time(row, sequences, backward)


def _modeled_time(row: TimedAttention, sequences: Ratio, backward: bool) -> Seconds:
    reached = achieved_shares(GPU)
    share = reached.attention_backward if backward else reached.attention_forward
    rate = GPU.peak["fp16"] * share * (OLD_INSTRUCTIONS if row.kernel == "flash" else 1.0)
    time = flash_attention_time(sequences, row.length, row.length, HEAD_SIZE, rate, GPU.sms)
    return time * (ATTENTION_BACKWARD if backward else 1.0)
