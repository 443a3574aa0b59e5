"""Outputs of a published pipeline calculator, by its own arithmetic (`pingdo_pipeline`)."""

from engine.core.units import Bytes, Count, MiB, Seconds, Tokens

# Its compute time cannot be recovered for certain; this gives its digits at its own defaults.
_PER_LAYER_AND_TOKEN: Seconds = 1e-6


def printed_efficiency(stages: Count, num_microbatches: Count) -> str:
    """Return the pipeline efficiency that it prints."""
    return f"{num_microbatches / (num_microbatches + stages - 1) * 100:.1f} %"


def printed_outputs(
    num_layers: Count, stages: Count, num_microbatches: Count, tokens: Tokens, message: Bytes
) -> dict[str, str]:
    """Return its outputs, digit by digit.

    `tokens` are those of a micro-batch, `message` its hidden state. It prints MiB as MB and GiB as
    GB, and counts one boundary of stages.
    """
    p, m, message_mib = stages, num_microbatches, message / MiB
    sent = message_mib * m * 2 / 1024
    layers = num_layers // p
    compute = layers * tokens * _PER_LAYER_AND_TOKEN
    return {
        "operations": f"{p * m}",
        "stage": f"{layers} layers, {message_mib:.2f} MB",
        "transfer": f"{sent:.4f} GB",
        "bubble": f"{(p - 1) / (m + p - 1) * 100:.1f} %",
        "compute": f"{compute * 1e3:.2f} ms",
        "bandwidth": f"{sent * 8 / compute:.2f} Gb/s" if compute else "none",
        "activation": f"{message_mib * m:.1f} MB",
        "efficiency": printed_efficiency(p, m),
    }
