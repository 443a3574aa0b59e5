"""Generation of responses of unequal lengths on inference engines.

A response has a length from a lognormal distribution, cut at the longest that is allowed. An engine
is one group of tensor parallelism; it works on as many responses at once as its cache holds, one
token of each in every pass, and takes the next response when one ends (continuous batching).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush, heappushpop
from itertools import islice
from math import exp

from engine.catalog.models import Model
from engine.catalog.rollout_steps import ENGINE_GAP
from engine.core.units import Bytes, Count, Ratio, Seconds, Share, Tokens
from engine.formulas.parameters import dense_layer_parameters
from engine.simulate.job.generation import HALF, ServingJob, cache_bytes, forward_pass
from engine.simulate.layer.device_model import RankRates
from engine.simulate.numerics.rng import normals, uniforms

# Times of a pass are computed for multiples of so many tokens, and straight between them.
_GRID: Tokens = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """Responses to generate in one step.

    Attributes:
        responses: of all prompts together.
        per_prompt: responses of one prompt, which is read once.
        prompt: tokens of a prompt.
        median: tokens of the middle response.
        spread: deviation of the logarithm of a length; 0: all are equally long.
        longest: tokens after which a response is cut off.
        seed: of the lengths.
    """

    responses: Count
    per_prompt: Count
    prompt: Tokens
    median: Tokens
    spread: Ratio
    longest: Tokens
    seed: Count = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceEngine:
    """Results of one inference engine in one step.

    Attributes:
        end: when its last response is done.
        ends: when each of its responses is done, in order.
        tokens: that it has generated.
        slots: responses that it works on at once, at most.
    """

    end: Seconds
    ends: tuple[Seconds, ...]
    tokens: Tokens
    slots: Count


@lru_cache(maxsize=16)
def response_lengths(request: RolloutRequest) -> tuple[Count, ...]:
    """Return the length of every response, in request order."""
    draws = (
        request.median * exp(request.spread * draw)
        for draw in _normal_draws(request.seed, request.responses)
    )
    return tuple(max(1, round(min(draw, request.longest))) for draw in draws)


# The same for every median and spread.
@lru_cache(maxsize=4)
def _normal_draws(seed: int, count: Count) -> tuple[float, ...]:
    return tuple(islice(normals(uniforms(seed)), count))


def cache_tokens(model: Model, ranks: Count, memory: Bytes) -> Tokens:
    """Return the key-value cache capacity in tokens of an engine of `ranks` GPUs.

    `memory` is what each of its GPUs gives to the engine.
    """
    weights = HALF * model.num_layers * dense_layer_parameters(model).total / ranks
    return max(0.0, memory - weights) * ranks / (model.num_layers * cache_bytes(model))


def engine_slots(request: RolloutRequest, tokens: Tokens, limit: Count) -> Count:
    """Return the concurrent responses of an engine, at mean length, at least one."""
    mean = request.prompt + mean_response_length(request)
    return max(1, min(limit, int(tokens / mean)))


def mean_response_length(request: RolloutRequest) -> Tokens:
    """Return the mean response length."""
    all_lengths = response_lengths(request)
    return sum(all_lengths) / len(all_lengths)


class _PassTimes:
    """Decode pass times with the engine's own time, on a grid of context lengths."""

    def __init__(self, model: Model, rank: RankRates, ranks: Count) -> None:
        self._serving = (model, rank, ranks)
        # The time at a place of the grid, and how much longer it takes at the next.
        self._known: dict[tuple[Count, Count], tuple[Seconds, Seconds]] = {}
        self._ends: dict[tuple[Count, Count], Seconds] = {}  # of a cell, where the next begins

    def time(self, batch: Count, context: Tokens) -> Seconds:
        """Return the time of a pass of `batch` responses with so many tokens before them."""
        grid_position = context / _GRID
        cell = int(grid_position)
        known = self._known.get((batch, cell))
        if known is None:
            low = self._ends.get((batch, cell)) or self._at(batch, cell)
            high = self._ends[batch, cell + 1] = self._at(batch, cell + 1)
            known = self._known[batch, cell] = low, high - low
        return known[0] + (grid_position - cell) * known[1]

    def _at(self, batch: Count, cell: Count) -> Seconds:
        model, rank, ranks = self._serving
        serving = ServingJob(
            model=model, rank=rank, ranks=ranks, batch=batch, prompt=1, new_tokens=1
        )
        return forward_pass(serving, "tensor", 1, cell * _GRID).time + ENGINE_GAP

    def prompts(self, count: Ratio, prompt: Tokens) -> Seconds:
        """Return the prefill time of `count` prompts, one after another."""
        model, rank, ranks = self._serving
        serving = ServingJob(
            model=model, rank=rank, ranks=ranks, batch=1, prompt=int(prompt), new_tokens=1
        )
        return count * forward_pass(serving, "tensor", int(prompt), prompt).time


def run_engines(
    model: Model,
    rank: RankRates,
    ranks: Count,
    engines: Count,
    request: RolloutRequest,
    slots: Count,
) -> tuple[InferenceEngine, ...]:
    """Return the results of all engines, with responses dealt round-robin."""
    passes = _PassTimes(model, rank, ranks)
    all_lengths = response_lengths(request)
    results = []
    for number in range(engines):
        engine_lengths = all_lengths[number::engines]
        start = passes.prompts(len(engine_lengths) / request.per_prompt, request.prompt)
        ends = _response_ends(engine_lengths, slots, request.prompt, passes, start)
        results.append(
            InferenceEngine(
                end=ends[-1] if ends else 0.0,
                ends=ends,
                tokens=float(sum(engine_lengths)),
                slots=slots,
            )
        )
    return tuple(results)


def _response_ends(
    engine_lengths: Sequence[Count],
    slots: Count,
    prompt: Tokens,
    passes: _PassTimes,
    start: Seconds,
) -> tuple[Seconds, ...]:
    """Return the end time of each response under continuous batching."""
    waiting = list(reversed(engine_lengths))
    active: list[tuple[Count, Count]] = []  # (pass that ends it, pass that began it)
    now, time, begun = 0, start, 0
    ends: list[Seconds] = []
    while waiting and len(active) < slots - 1:
        heappush(active, (waiting.pop(), 0))
    while waiting or active:
        if waiting:
            last, first = heappushpop(active, (now + waiting.pop(), now))
            begun += now
        else:
            last, first = heappop(active)
        batch = len(active) + 1
        context = prompt + (now + last) / 2 - begun / batch
        time += (last - now) * passes.time(batch, context)
        now, begun = last, begun - first
        ends.append(time)
    return tuple(ends)


def steady_token_rate(
    model: Model, rank: RankRates, ranks: Count, request: RolloutRequest, slots: Count
) -> Ratio:
    """Return the tokens per second of an engine whose queue is never empty."""
    context = request.prompt + mean_response_length(request) / 2
    return slots / _PassTimes(model, rank, ranks).time(slots, context)


def unfinished_share(engines: Sequence[InferenceEngine], time: Seconds) -> Share:
    """Return the share of responses that are unfinished at a time."""
    total = sum(len(engine.ends) for engine in engines)
    done = sum(bisect_right(engine.ends, time) for engine in engines)
    return (total - done) / total if total else 0.0
