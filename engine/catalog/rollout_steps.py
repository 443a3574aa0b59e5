"""Published steps of post-training, and what they say of the time that no formula here has.

verl, `docs/advance/fully_async.md`, Qwen2.5-Math-7B on H20 with vLLM and FSDP2: 512 prompts, 16
responses of each, at most 28,672 tokens. With all roles on the same GPUs, and as a stream on two
halves, which trains on the log-probabilities of the engine (`use_rollout_log_probs`).
"""

from dataclasses import dataclass

from engine.core.units import Count, Ratio, Seconds

SOURCE = "verl2025"
# Between two passes of an engine: scheduling, sampling, and the launch of a captured graph. On 64
# GPUs the generation takes 5.26 ms for each token of the longest response, and 6.20 ms on 128,
# where reading weights takes 4.05 ms; the middle of the two differences.
ENGINE_GAP: Seconds = 1.7e-3
# How many times the simulated step the six published ones took, at least and at most.
FASTEST: Ratio = 0.9
SLOWEST: Ratio = 2.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStep:
    """A published step.

    Attributes:
        mode: "colocated" or "stream", with half of the GPUs for either role.
        world_size: GPUs.
        step: from one update to the next.
        generation: of colocated GPUs, until the last response is done; 0 for a stream.
        forwards: log-probabilities before training; 0 if there is no such pass.
        training: forward, backward and update.
    """

    mode: str
    world_size: Count
    step: Seconds
    generation: Seconds
    forwards: Seconds
    training: Seconds


def _row(mode: str, world_size: Count, *times: Seconds) -> RolloutStep:
    step, generation, forwards, training = times
    return RolloutStep(
        mode=mode,
        world_size=world_size,
        step=step,
        generation=generation,
        forwards=forwards,
        training=training,
    )


ROLLOUT_STEPS = (
    _row("colocated", 32, 790.10, 357.41, 107.71, 269.80),
    _row("colocated", 64, 365.28, 150.72, 70.26, 133.41),
    _row("colocated", 128, 356.30, 177.85, 53.92, 113.81),
    _row("stream", 32, 294.77, 0.0, 0.0, 313.81),
    _row("stream", 64, 189.26, 0.0, 0.0, 156.98),
    _row("stream", 128, 150.63, 0.0, 0.0, 113.16),
)
