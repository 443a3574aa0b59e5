"""What all forms of data parallelism share: who owns which places, and every rank's gradients."""

from collections.abc import Iterator, Sequence

from engine.catalog.models import Model
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, initial, micro_batches, num_targets, share
from engine.tiny.layout import part_names, part_range, unflatten, vector_of
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.parts import tokens_of
from engine.tiny.result import Held, Run, sent_by
from engine.tiny.single import backward_all, forward_all, gradient_of
from engine.tiny.trace import RankState


def whole_places(size: Count, rank: int, ranks: Count) -> range:
    """Return the places that a rank owns if the whole vector is cut; some may be padding."""
    each = -(-size // ranks)
    return range(rank * each, (rank + 1) * each)


def part_places(model: Model, rank: int, ranks: Count) -> list[int]:
    """Return the places that a rank owns if every part is cut by itself.

    Padding, which belongs to no place, gets the first place behind the vector.
    """
    behind = part_range(model, part_names(model)[-1]).stop
    found = []
    for part in part_names(model):
        places = part_range(model, part)
        own = whole_places(len(places), rank, ranks)
        found += [places[i] if i < len(places) else behind for i in own]
    return found


def own_slice(model: Model, part: str, ranks: Count) -> slice:
    """Return where a part's share lies among the places that a rank owns part by part."""
    start = 0
    for name in part_names(model):
        each = -(-len(part_range(model, name)) // ranks)
        if name == part:
            return slice(start, start + each)
        start += each
    raise LookupError(f"no part '{part}'; there are {', '.join(part_names(model))}")


def begin(job: Job, places: Sequence[Sequence[int]]) -> list[RankState]:
    """Return all ranks before the first step: whole parameters, optimizer states of own places."""
    vector = initial(job.model)
    return [
        RankState(
            own=own,
            parameters=list(vector),
            gradients=[0.0] * len(vector),
            moments=adam.start([vector[i] if i < len(vector) else 0.0 for i in own]),
        )
        for own in places
    ]


def local_gradient(job: Job, parameters: Vector, rank: int, ranks: Count) -> tuple[float, Vector]:
    """Return a rank's part of loss and gradient, summed over its micro-batches."""
    total, gradient = 0.0, [0.0] * len(parameters)
    for some in micro_batches(job, share(job, rank, ranks)):
        one, own = gradient_of(job.model, parameters, some, num_targets(job))
        total, gradient = total + one, add_vectors(gradient, own)
    return total, gradient


def gradients_by_part(
    job: Job, vector: Sequence[float], sequences: Sequence[tuple[int, ...]]
) -> Iterator[tuple[str, Vector]]:
    """Yield every part's flat gradient as it becomes ready; zeros if there are no sequences."""
    model = job.model
    if not sequences:
        for part in reversed(part_names(model)):
            yield part, [0.0] * len(part_range(model, part))
        return
    parameters, tokens = unflatten(model, vector), tokens_of(sequences, num_targets(job))
    passed = forward_all(model, parameters, tokens)
    for part, found in backward_all(model, parameters, tokens, passed):
        yield part, vector_of(model, part, found)


def gather_parts(job: Job, exchange: Exchange, shares: Sequence[Vector], kind: str) -> list[Vector]:
    """Return the whole vector on every rank, gathered part by part from the ranks' shares."""
    model, ranks = job.model, exchange.ranks
    whole: list[Vector] = [[] for _ in range(ranks)]
    for part in part_names(model):
        cut, size = own_slice(model, part, ranks), len(part_range(model, part))
        gathered = exchange.all_gather([share[cut] for share in shares], kind)
        for vector, found in zip(whole, gathered, strict=True):
            vector += found[:size]
    return whole


def outcome(
    job: Job, states: Sequence[RankState], exchange: Exchange, losses: Sequence[float]
) -> Run:
    """Return the run; the parameters are those of the first rank, which must hold them all."""
    return Run(
        job=job,
        parameters=states[0].parameters,
        losses=tuple(losses),
        held=tuple(held_by(state) for state in states),
        sent=sent_by(exchange),
    )


def held_by(state: RankState) -> Held:
    """Return how many numbers a rank keeps."""
    moments = state.moments
    return Held(
        parameters=len(state.parameters),
        gradients=len(state.gradients),
        optimizer=len(moments.copy) + len(moments.first) + len(moments.second),
    )
