"""Common parts of data parallelism: ownership of places, and gradients of each rank."""

from collections.abc import Iterator, Sequence

from engine.catalog.models import Model
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, initial_parameters, micro_batches, num_targets, rank_sequences
from engine.tiny.layout import part_names, part_range, unflatten, vector_of
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.parts import token_rows
from engine.tiny.result import StateCounts, TrainingResult, sent_numbers
from engine.tiny.single import backward_all, forward_all, loss_and_gradient
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
    owned = []
    for part in part_names(model):
        places = part_range(model, part)
        rank_numbers = whole_places(len(places), rank, ranks)
        owned += [places[i] if i < len(places) else behind for i in rank_numbers]
    return owned


def own_slice(model: Model, part: str, ranks: Count) -> slice:
    """Return the slice of a part's share among the numbers that a rank owns part by part."""
    start = 0
    for name in part_names(model):
        each = -(-len(part_range(model, name)) // ranks)
        if name == part:
            return slice(start, start + each)
        start += each
    raise LookupError(f"no part '{part}'; there are {', '.join(part_names(model))}")


def initial_states(job: TinyJob, places: Sequence[Sequence[int]]) -> list[RankState]:
    """Return all ranks before the first step: whole parameters, optimizer states of own places."""
    vector = initial_parameters(job.model)
    return [
        RankState(
            owned=owned,
            parameters=list(vector),
            gradients=[0.0] * len(vector),
            moments=adam.initial_moments([vector[i] if i < len(vector) else 0.0 for i in owned]),
        )
        for owned in places
    ]


def local_gradient(
    job: TinyJob, parameters: Vector, rank: int, ranks: Count
) -> tuple[float, Vector]:
    """Return a rank's part of loss and gradient, summed over its micro-batches."""
    total, gradient = 0.0, [0.0] * len(parameters)
    for micro_batch in micro_batches(job, rank_sequences(job, rank, ranks)):
        loss, micro_gradient = loss_and_gradient(
            job.model, parameters, micro_batch, num_targets(job)
        )
        total, gradient = total + loss, add_vectors(gradient, micro_gradient)
    return total, gradient


def gradients_by_part(
    job: TinyJob, vector: Sequence[float], sequences: Sequence[tuple[int, ...]]
) -> Iterator[tuple[str, Vector]]:
    """Yield every part's flat gradient as it becomes ready; zeros if there are no sequences."""
    model = job.model
    if not sequences:
        for part in reversed(part_names(model)):
            yield part, [0.0] * len(part_range(model, part))
        return
    parameters, tokens = unflatten(model, vector), token_rows(sequences, num_targets(job))
    passed = forward_all(model, parameters, tokens)
    for part, gradients in backward_all(model, parameters, tokens, passed):
        yield part, vector_of(model, part, gradients)


def gather_parts(
    job: TinyJob, exchange: Exchange, shares: Sequence[Vector], kind: str
) -> list[Vector]:
    """Return the whole vector on every rank, gathered part by part from the ranks' shares."""
    model, ranks = job.model, exchange.ranks
    whole: list[Vector] = [[] for _ in range(ranks)]
    for part in part_names(model):
        cut, size = own_slice(model, part, ranks), len(part_range(model, part))
        gathered = exchange.all_gather([share[cut] for share in shares], kind)
        for vector, numbers in zip(whole, gathered, strict=True):
            vector += numbers[:size]
    return whole


def training_result(
    job: TinyJob, states: Sequence[RankState], exchange: Exchange, losses: Sequence[float]
) -> TrainingResult:
    """Return the training result, with the parameters of the first rank, which must hold all."""
    return TrainingResult(
        job=job,
        parameters=states[0].parameters,
        losses=tuple(losses),
        state_counts=tuple(state_counts(state) for state in states),
        sent=sent_numbers(exchange),
    )


def state_counts(state: RankState) -> StateCounts:
    """Return the sizes of a rank's persistent states."""
    moments = state.moments
    return StateCounts(
        parameters=len(state.parameters),
        gradients=len(state.gradients),
        optimizer=len(moments.copy) + len(moments.first) + len(moments.second),
    )
