"""Expert parallelism: experts are spread over the ranks, tokens travel (Lepikhin et al. 2021).

Everything but the experts is data parallel over the same ranks.
"""

from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.expert_layers import MixturePass, expert_owner, mix, mix_backward
from engine.tiny.job import TINY_EXPERTS, TinyJob, initial_parameters, num_targets, rank_sequences
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    Parameters,
    Tensor,
    layer_name,
    part_names,
    tensors,
)
from engine.tiny.matrix import Matrix, Vector, flatten_rows, split_rows
from engine.tiny.parts import (
    Tokens,
    attention_half,
    attention_half_backward,
    backward,
    forward,
    loss,
    token_rows,
)
from engine.tiny.result import OPTIMIZER_NUMBERS, StateCounts, TrainingResult, sent_numbers

TITLE = "Expert parallel"
AXIS = "expert"
RANKS: tuple[Count, ...] = (1, 2, 4)
MODEL = TINY_EXPERTS


def train(job: TinyJob, ranks: Count) -> TrainingResult:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide the experts, or outnumber the sequences.
    """
    model, exchange, losses = job.model, Exchange(ranks), []
    if not model.num_experts or model.num_experts % ranks or len(job.batch) < ranks:
        raise ValueError(
            f"{ranks} ranks do not divide {model.num_experts} experts, or have no sequence each"
        )
    tensors_by_rank = [_tensors(job, rank, ranks) for rank in range(ranks)]
    vector = initial_parameters(model)
    vectors = [
        [x for t in rank_tensors for x in vector[t.start : t.start + t.size]]
        for rank_tensors in tensors_by_rank
    ]
    moments = [adam.initial_moments(rank_vector) for rank_vector in vectors]
    tokens = [
        token_rows(rank_sequences(job, rank, ranks), num_targets(job)) for rank in range(ranks)
    ]
    for _ in range(job.steps):
        weights = [
            _weights(job, rank_tensors, rank_vector)
            for rank_tensors, rank_vector in zip(tensors_by_rank, vectors, strict=True)
        ]
        total, gradients = _gradients(job, weights, tokens, exchange)
        losses.append(total)
        slopes = _sum_shared(tensors_by_rank, gradients, exchange)
        vectors = [
            adam.step(state, slope, job.learning_rate)
            for state, slope in zip(moments, slopes, strict=True)
        ]
    counts = [
        StateCounts(
            parameters=len(rank_vector),
            gradients=len(rank_vector),
            optimizer=OPTIMIZER_NUMBERS * len(rank_vector),
        )
        for rank_vector in vectors
    ]
    ends = [
        _weights(job, rank_tensors, rank_vector)
        for rank_tensors, rank_vector in zip(tensors_by_rank, vectors, strict=True)
    ]
    return TrainingResult(
        job=job,
        parameters=_join(job, ends),
        losses=tuple(losses),
        state_counts=tuple(counts),
        sent=sent_numbers(exchange),
    )


def is_expert(tensor: Tensor) -> bool:
    """Return whether a tensor belongs to one expert: those end with its number."""
    return tensor.name[-1].isdigit()


def _tensors(job: TinyJob, rank: int, ranks: Count) -> list[Tensor]:
    """Return a rank's tensors, those of its experts last."""
    shared = [tensor for tensor in tensors(job.model) if not is_expert(tensor)]
    return shared + [
        tensor
        for tensor in tensors(job.model)
        if is_expert(tensor)
        and expert_owner(job.model, int(tensor.name.split()[-1]), ranks) == rank
    ]


def _weights(job: TinyJob, rank_tensors: list[Tensor], vector: Vector) -> Parameters:
    weights: Parameters = {part: {} for part in part_names(job.model)}
    start = 0
    for tensor in rank_tensors:
        numbers = vector[start : start + tensor.size]
        weights[tensor.part][tensor.name] = split_rows(numbers, tensor.columns)
        start += tensor.size
    return weights


def _join(job: TinyJob, weights: list[Parameters]) -> Vector:
    """Return the flat vector, each expert from the rank that holds it."""
    numbers: Vector = []
    for tensor in tensors(job.model):
        holders = [
            rank_weights[tensor.part]
            for rank_weights in weights
            if tensor.name in rank_weights[tensor.part]
        ]
        numbers += flatten_rows(holders[0][tensor.name])
    return numbers


def _sum_shared(
    tensors_by_rank: list[list[Tensor]], gradients: list[Parameters], exchange: Exchange
) -> list[Vector]:
    """Return every rank's gradients; those of shared tensors are summed over the ranks."""
    sizes = sum(tensor.size for tensor in tensors_by_rank[0] if not is_expert(tensor))
    vectors = [
        [
            x
            for tensor in rank_tensors
            for x in flatten_rows(rank_gradients[tensor.part][tensor.name])
        ]
        for rank_tensors, rank_gradients in zip(tensors_by_rank, gradients, strict=True)
    ]
    sums = exchange.all_reduce([rank_gradients[:sizes] for rank_gradients in vectors], "gradients")
    return [
        total + rank_gradients[sizes:] for total, rank_gradients in zip(sums, vectors, strict=True)
    ]


def _gradients(
    job: TinyJob, weights: list[Parameters], tokens: list[Tokens], exchange: Exchange
) -> tuple[float, list[Parameters]]:
    model = job.model
    names = [layer_name(i) for i in range(model.num_layers)]
    rows = [
        forward(model, EMBEDDING, own[EMBEDDING], [], rank_tokens)
        for own, rank_tokens in zip(weights, tokens, strict=True)
    ]
    kept: list[tuple[list[Matrix], MixturePass]] = []
    for name in names:
        layer = [own[name] for own in weights]
        middle = [
            attention_half(model, rank_weights, own, rank_tokens)
            for rank_weights, own, rank_tokens in zip(layer, rows, tokens, strict=True)
        ]
        before = rows
        rows, mixed = mix(model, layer, middle, exchange)
        kept.append((before, mixed))
    total, gradient = 0.0, []
    gradients = [Parameters() for _ in weights]
    for rank, own in enumerate(weights):
        total += loss(own[OUTPUT], rows[rank], tokens[rank])
        back, gradients[rank][OUTPUT] = backward(
            model, OUTPUT, own[OUTPUT], rows[rank], tokens[rank], []
        )
        gradient.append(back)
    for name, (before, mixed) in zip(reversed(names), reversed(kept), strict=True):
        layer = [own[name] for own in weights]
        gradient, slopes = mix_backward(model, layer, mixed, gradient, exchange)
        for rank, rank_weights in enumerate(slopes):
            gradient[rank], others = attention_half_backward(
                model, layer[rank], before[rank], tokens[rank], gradient[rank]
            )
            gradients[rank][name] = rank_weights | others
    for rank, rank_tokens in enumerate(tokens):
        table = weights[rank][EMBEDDING]
        _, gradients[rank][EMBEDDING] = backward(
            model, EMBEDDING, table, [], rank_tokens, gradient[rank]
        )
    return total, gradients
