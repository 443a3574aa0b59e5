"""Expert parallelism: experts are spread over the ranks, tokens travel (Lepikhin et al. 2021).

Everything but the experts is data parallel over the same ranks.
"""

from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.expert_layers import Mixed, mix, mix_backward, owner
from engine.tiny.job import TINY_EXPERTS, Job, initial, num_targets, share
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    Parameters,
    Tensor,
    layer_name,
    part_names,
    tensors,
)
from engine.tiny.matrix import Matrix, Vector, flat, rows_of
from engine.tiny.parts import (
    Tokens,
    attention_half,
    attention_half_backward,
    backward,
    forward,
    loss,
    tokens_of,
)
from engine.tiny.result import OPTIMIZER_NUMBERS, Held, Run, sent_by

TITLE = "Expert parallel"
AXIS = "expert"
RANKS: tuple[Count, ...] = (1, 2, 4)
MODEL = TINY_EXPERTS


def train(job: Job, ranks: Count) -> Run:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide the experts, or outnumber the sequences.
    """
    model, exchange, losses = job.model, Exchange(ranks), []
    if not model.num_experts or model.num_experts % ranks or len(job.batch) < ranks:
        raise ValueError(
            f"{ranks} ranks do not divide {model.num_experts} experts, or have no sequence each"
        )
    own = [_tensors(job, rank, ranks) for rank in range(ranks)]
    vector = initial(model)
    vectors = [[x for t in some for x in vector[t.start : t.start + t.size]] for some in own]
    moments = [adam.start(one) for one in vectors]
    tokens = [tokens_of(share(job, rank, ranks), num_targets(job)) for rank in range(ranks)]
    for _ in range(job.steps):
        weights = [_weights(job, some, one) for some, one in zip(own, vectors, strict=True)]
        total, found = _gradients(job, weights, tokens, exchange)
        losses.append(total)
        slopes = _sum_shared(own, found, exchange)
        vectors = [
            adam.step(state, slope, job.learning_rate)
            for state, slope in zip(moments, slopes, strict=True)
        ]
    held = [
        Held(parameters=len(one), gradients=len(one), optimizer=OPTIMIZER_NUMBERS * len(one))
        for one in vectors
    ]
    ends = [_weights(job, some, one) for some, one in zip(own, vectors, strict=True)]
    return Run(
        job=job,
        parameters=_joined(job, ends),
        losses=tuple(losses),
        held=tuple(held),
        sent=sent_by(exchange),
    )


def is_expert(tensor: Tensor) -> bool:
    """Return whether a tensor belongs to one expert: those end with its number."""
    return tensor.name[-1].isdigit()


def _tensors(job: Job, rank: int, ranks: Count) -> list[Tensor]:
    """Return a rank's tensors, those of its experts last."""
    found = [tensor for tensor in tensors(job.model) if not is_expert(tensor)]
    return found + [
        tensor
        for tensor in tensors(job.model)
        if is_expert(tensor) and owner(job.model, int(tensor.name.split()[-1]), ranks) == rank
    ]


def _weights(job: Job, own: list[Tensor], vector: Vector) -> Parameters:
    found: Parameters = {part: {} for part in part_names(job.model)}
    start = 0
    for tensor in own:
        numbers = vector[start : start + tensor.size]
        found[tensor.part][tensor.name] = rows_of(numbers, tensor.columns)
        start += tensor.size
    return found


def _joined(job: Job, weights: list[Parameters]) -> Vector:
    """Return the flat vector, each expert from the rank that holds it."""
    found: Vector = []
    for tensor in tensors(job.model):
        holders = [own[tensor.part] for own in weights if tensor.name in own[tensor.part]]
        found += flat(holders[0][tensor.name])
    return found


def _sum_shared(
    own: list[list[Tensor]], found: list[Parameters], exchange: Exchange
) -> list[Vector]:
    """Return every rank's gradients; what all ranks hold is summed over them."""
    sizes = sum(tensor.size for tensor in own[0] if not is_expert(tensor))
    vectors = [
        [x for tensor in some for x in flat(one[tensor.part][tensor.name])]
        for some, one in zip(own, found, strict=True)
    ]
    sums = exchange.all_reduce([one[:sizes] for one in vectors], "gradients")
    return [total + one[sizes:] for total, one in zip(sums, vectors, strict=True)]


def _gradients(
    job: Job, weights: list[Parameters], tokens: list[Tokens], exchange: Exchange
) -> tuple[float, list[Parameters]]:
    model = job.model
    names = [layer_name(i) for i in range(model.num_layers)]
    rows = [
        forward(model, EMBEDDING, own[EMBEDDING], [], some)
        for own, some in zip(weights, tokens, strict=True)
    ]
    kept: list[tuple[list[Matrix], Mixed]] = []
    for name in names:
        layer = [own[name] for own in weights]
        middle = [
            attention_half(model, one, own, some)
            for one, own, some in zip(layer, rows, tokens, strict=True)
        ]
        before = rows
        rows, mixed = mix(model, layer, middle, exchange)
        kept.append((before, mixed))
    total, gradient = 0.0, []
    found = [Parameters() for _ in weights]
    for rank, own in enumerate(weights):
        total += loss(own[OUTPUT], rows[rank], tokens[rank])
        back, found[rank][OUTPUT] = backward(
            model, OUTPUT, own[OUTPUT], rows[rank], tokens[rank], []
        )
        gradient.append(back)
    for name, (before, mixed) in zip(reversed(names), reversed(kept), strict=True):
        layer = [own[name] for own in weights]
        gradient, slopes = mix_backward(model, layer, mixed, gradient, exchange)
        for rank, one in enumerate(slopes):
            gradient[rank], others = attention_half_backward(
                model, layer[rank], before[rank], tokens[rank], gradient[rank]
            )
            found[rank][name] = one | others
    for rank, some in enumerate(tokens):
        table = weights[rank][EMBEDDING]
        _, found[rank][EMBEDDING] = backward(model, EMBEDDING, table, [], some, gradient[rank])
    return total, found
