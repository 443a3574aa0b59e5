"""Responses of unequal lengths on inference engines: when each engine is done.

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
from engine.core.units import Bytes, Count, Ratio, Seconds, Share, Tokens
from engine.formulas.parameters import dense_layer_parameters
from engine.simulate.job.generation import HALF, Serving, cache_bytes, forward_pass
from engine.simulate.layer.device_model import Rank
from engine.simulate.numerics.rng import chances, normals

# Times of a pass are computed for multiples of so many tokens, and straight between them.
_GRID: Tokens = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be generated in one step.

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
class Engine:
    """One inference engine in one step.

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
def lengths(asked: Asked) -> tuple[Count, ...]:
    """Return the length of every response, in the order in which they are asked for."""
    found = (asked.median * exp(asked.spread * one) for one in _dice(asked.seed, asked.responses))
    return tuple(max(1, round(min(one, asked.longest))) for one in found)


# The same for every median and spread.
@lru_cache(maxsize=4)
def _dice(seed: int, count: Count) -> tuple[float, ...]:
    return tuple(islice(normals(chances(seed)), count))


def cache_tokens(model: Model, ranks: Count, memory: Bytes) -> Tokens:
    """Return the tokens whose keys and values fit beside the weights, on an engine of `ranks`.

    `memory` is what each of its GPUs gives to the engine.
    """
    weights = HALF * model.num_layers * dense_layer_parameters(model).total / ranks
    return max(0.0, memory - weights) * ranks / (model.num_layers * cache_bytes(model))


def slots_of(asked: Asked, tokens: Tokens, most: Count) -> Count:
    """Return how many responses an engine works on at once: of mean length, at least one."""
    mean = asked.prompt + mean_length(asked)
    return max(1, min(most, int(tokens / mean)))


def mean_length(asked: Asked) -> Tokens:
    """Return the mean of the lengths."""
    found = lengths(asked)
    return sum(found) / len(found)


class _Passes:
    """Times of a pass of one token of each response, kept on a grid of contexts."""

    def __init__(self, model: Model, rank: Rank, ranks: Count) -> None:
        self._serving = (model, rank, ranks)
        # The time at a place of the grid, and how much longer it takes at the next.
        self._known: dict[tuple[Count, Count], tuple[Seconds, Seconds]] = {}
        self._ends: dict[tuple[Count, Count], Seconds] = {}  # of a cell, where the next begins

    def time(self, batch: Count, context: Tokens) -> Seconds:
        """Return the time of a pass of `batch` responses with so many tokens before them."""
        place = context / _GRID
        cell = int(place)
        known = self._known.get((batch, cell))
        if known is None:
            low = self._ends.get((batch, cell)) or self._at(batch, cell)
            high = self._ends[batch, cell + 1] = self._at(batch, cell + 1)
            known = self._known[batch, cell] = low, high - low
        return known[0] + (place - cell) * known[1]

    def _at(self, batch: Count, cell: Count) -> Seconds:
        model, rank, ranks = self._serving
        serving = Serving(model=model, rank=rank, ranks=ranks, batch=batch, prompt=1, new_tokens=1)
        return forward_pass(serving, "tensor", 1, cell * _GRID).time

    def prompts(self, count: Ratio, prompt: Tokens) -> Seconds:
        """Return the time to read so many prompts, one after another."""
        model, rank, ranks = self._serving
        serving = Serving(
            model=model, rank=rank, ranks=ranks, batch=1, prompt=int(prompt), new_tokens=1
        )
        return count * forward_pass(serving, "tensor", int(prompt), prompt).time


def generated_on(
    model: Model, rank: Rank, ranks: Count, engines: Count, asked: Asked, slots: Count
) -> tuple[Engine, ...]:
    """Return every engine, each with its share of the responses, dealt like cards."""
    passes = _Passes(model, rank, ranks)
    every = lengths(asked)
    found = []
    for number in range(engines):
        own = every[number::engines]
        start = passes.prompts(len(own) / asked.per_prompt, asked.prompt)
        ends = _run(own, slots, asked.prompt, passes, start)
        found.append(
            Engine(end=ends[-1] if ends else 0.0, ends=ends, tokens=float(sum(own)), slots=slots)
        )
    return tuple(found)


def _run(
    own: Sequence[Count], slots: Count, prompt: Tokens, passes: _Passes, start: Seconds
) -> tuple[Seconds, ...]:
    """Return when each response is done: passes are counted, and timed between two ends."""
    waiting = list(reversed(own))
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


def steady_rate(model: Model, rank: Rank, ranks: Count, asked: Asked, slots: Count) -> Ratio:
    """Return the tokens per second of an engine that always has a next response to take."""
    context = asked.prompt + mean_length(asked) / 2
    return slots / _Passes(model, rank, ranks).time(slots, context)


def still_running(engines: Sequence[Engine], time: Seconds) -> Share:
    """Return the share of all responses that are not done by then."""
    every = sum(len(one.ends) for one in engines)
    done = sum(bisect_right(one.ends, time) for one in engines)
    return (every - done) / every if every else 0.0
