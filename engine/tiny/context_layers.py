"""Training with every sequence cut over the ranks, all ranks in step."""

from collections.abc import Callable

from engine.catalog.models import head_size
from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.attention import Attended, Heads, project, project_backward
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, initial, num_targets
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    Parameters,
    Weights,
    flatten,
    layer_name,
    unflatten,
)
from engine.tiny.matrix import Matrix, add, product, product_transposed, transposed_product
from engine.tiny.norm import norm, norm_backward
from engine.tiny.parts import Tokens, backward, feed_half, feed_half_backward, forward, loss
from engine.tiny.result import OPTIMIZER_NUMBERS, Held, Run, sent_by
from engine.tiny.ring_attention import ring_backward, ring_forward

# Which positions of a sequence of some length a rank has: (length, rank, ranks).
Deal = Callable[[Count, int, Count], list[int]]
Across = list[Matrix]


@Sliced
def train_in_pieces(job: Job, ranks: Count, deal: Deal) -> Slices[Run]:
    """Return the run; each rank has all parameters and some positions of every sequence."""
    model, exchange, losses = job.model, Exchange(ranks), []
    vectors = [initial(model) for _ in range(ranks)]
    moments = [adam.start(own) for own in vectors]
    tokens = [_tokens(job, rank, ranks, deal) for rank in range(ranks)]
    for step in range(job.steps):
        yield steps_done(step, job.steps)
        total, found = _gradients(job, [unflatten(model, own) for own in vectors], tokens, exchange)
        losses.append(total)
        sums = exchange.all_reduce([flatten(model, own) for own in found], "gradients")
        vectors = [
            adam.step(own, slopes, job.learning_rate)
            for own, slopes in zip(moments, sums, strict=True)
        ]
    size = len(vectors[0])
    held = Held(parameters=size, gradients=size, optimizer=OPTIMIZER_NUMBERS * size)
    return Run(
        job=job,
        parameters=vectors[0],
        losses=tuple(losses),
        held=(held,) * ranks,
        sent=sent_by(exchange),
    )


def _tokens(job: Job, rank: int, ranks: Count, deal: Deal) -> Tokens:
    places = [
        (i, place)
        for i, sequence in enumerate(job.batch)
        for place in deal(len(sequence) - 1, rank, ranks)
    ]
    return Tokens(
        inputs=tuple(job.batch[i][place] for i, place in places),
        targets=tuple(job.batch[i][place + 1] for i, place in places),
        places=tuple(places),
        count=num_targets(job),
    )


def _gradients(
    job: Job, parameters: list[Parameters], tokens: list[Tokens], exchange: Exchange
) -> tuple[float, list[Parameters]]:
    model = job.model
    names = [layer_name(i) for i in range(model.num_layers)]
    rows = [
        forward(model, EMBEDDING, own[EMBEDDING], [], some)
        for own, some in zip(parameters, tokens, strict=True)
    ]
    kept = []
    for name in names:
        weights = [own[name] for own in parameters]
        middle, heads, done = _attention(job, weights, rows, tokens, exchange)
        kept.append((rows, middle, heads, done))
        rows = [feed_half(model, one, own) for one, own in zip(weights, middle, strict=True)]
    total, gradient = 0.0, []
    found = [Parameters() for _ in parameters]
    for rank, own in enumerate(parameters):
        total += loss(own[OUTPUT], rows[rank], tokens[rank])
        back, found[rank][OUTPUT] = backward(
            model, OUTPUT, own[OUTPUT], rows[rank], tokens[rank], []
        )
        gradient.append(back)
    for name, layer in zip(reversed(names), reversed(kept), strict=True):
        weights = [own[name] for own in parameters]
        gradient, slopes = _layer_backward(job, weights, layer, tokens, gradient, exchange)
        for rank, one in enumerate(slopes):
            found[rank][name] = one
    for rank, some in enumerate(tokens):
        table = parameters[rank][EMBEDDING]
        _, found[rank][EMBEDDING] = backward(model, EMBEDDING, table, [], some, gradient[rank])
    return total, found


Kept = tuple[Across, Across, list[Heads], tuple[Across, Across]]


def _attention(
    job: Job, weights: list[Weights], rows: Across, tokens: list[Tokens], exchange: Exchange
) -> tuple[Across, list[Heads], tuple[Across, Across]]:
    head = head_size(job.model)
    heads = [
        project(norm(own, one["attention_norm"]), one, some.places, head)
        for own, one, some in zip(rows, weights, tokens, strict=True)
    ]
    done = ring_forward(heads, [some.places for some in tokens], exchange, head)
    middle = [
        add(own, product(context, one["out"]))
        for own, context, one in zip(rows, done[0], weights, strict=True)
    ]
    return middle, heads, done


def _layer_backward(
    job: Job,
    weights: list[Weights],
    kept: Kept,
    tokens: list[Tokens],
    gradient: Across,
    exchange: Exchange,
) -> tuple[Across, list[Weights]]:
    rows, middle, heads, (contexts, logs) = kept
    head = head_size(job.model)
    found: list[Weights] = []
    after: Across = []
    done = []
    for rank, one in enumerate(weights):
        back, slopes = feed_half_backward(job.model, one, middle[rank], gradient[rank])
        slopes["out"] = transposed_product(contexts[rank], back)
        done.append(
            Attended(
                query=heads[rank].query,
                result=contexts[rank],
                logs=logs[rank],
                gradient=product_transposed(back, one["out"]),
            )
        )
        after.append(back)
        found.append(slopes)
    of_heads = ring_backward(heads, done, [some.places for some in tokens], exchange, head)
    result = []
    for rank, one in enumerate(weights):
        normed = norm(rows[rank], one["attention_norm"])
        back, slopes = project_backward(normed, one, tokens[rank].places, head, of_heads[rank])
        of_rows, of_norm = norm_backward(rows[rank], one["attention_norm"], back)
        found[rank] |= slopes | {"attention_norm": of_norm}
        result.append(add(after[rank], of_rows))
    return result, found
