"""Training with every sequence cut over the ranks, all ranks in step."""

from collections.abc import Callable

from engine.catalog.models import head_size
from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.attention import (
    AttentionPass,
    Heads,
    Place,
    attend,
    attend_backward,
    merge,
    project,
    project_backward,
    visible_keys,
)
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, initial_parameters, num_targets
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    Parameters,
    Weights,
    flatten,
    layer_name,
    unflatten,
)
from engine.tiny.matrix import (
    Matrix,
    add,
    flatten_rows,
    product,
    product_transposed,
    split_rows,
    transposed_product,
)
from engine.tiny.parts import (
    Tokens,
    backward,
    feed_forward_half,
    feed_forward_half_backward,
    forward,
    loss,
    norm,
    norm_backward,
)
from engine.tiny.result import OPTIMIZER_NUMBERS, StateCounts, TrainingResult, sent_numbers

# Which positions of a sequence of some length a rank has: (length, rank, ranks).
Deal = Callable[[Count, int, Count], list[int]]
Across = list[Matrix]


@SlicedFunction
def train_context_parallel(job: TinyJob, ranks: Count, deal: Deal) -> Slices[TrainingResult]:
    """Return the run; each rank has all parameters and some positions of every sequence."""
    model, exchange, losses = job.model, Exchange(ranks), []
    vectors = [initial_parameters(model) for _ in range(ranks)]
    moments = [adam.initial_moments(own) for own in vectors]
    tokens = [_tokens(job, rank, ranks, deal) for rank in range(ranks)]
    for step in range(job.steps):
        yield step_progress(step, job.steps)
        total, gradients = _gradients(
            job, [unflatten(model, own) for own in vectors], tokens, exchange
        )
        losses.append(total)
        sums = exchange.all_reduce([flatten(model, own) for own in gradients], "gradients")
        vectors = [
            adam.step(own, slopes, job.learning_rate)
            for own, slopes in zip(moments, sums, strict=True)
        ]
    size = len(vectors[0])
    counts = StateCounts(parameters=size, gradients=size, optimizer=OPTIMIZER_NUMBERS * size)
    return TrainingResult(
        job=job,
        parameters=vectors[0],
        losses=tuple(losses),
        state_counts=(counts,) * ranks,
        sent=sent_numbers(exchange),
    )


def _tokens(job: TinyJob, rank: int, ranks: Count, deal: Deal) -> Tokens:
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
    job: TinyJob, parameters: list[Parameters], tokens: list[Tokens], exchange: Exchange
) -> tuple[float, list[Parameters]]:
    model = job.model
    names = [layer_name(i) for i in range(model.num_layers)]
    rows = [
        forward(model, EMBEDDING, own[EMBEDDING], [], rank_tokens)
        for own, rank_tokens in zip(parameters, tokens, strict=True)
    ]
    kept = []
    for name in names:
        weights = [own[name] for own in parameters]
        middle, heads, done = _attention(job, weights, rows, tokens, exchange)
        kept.append((rows, middle, heads, done))
        rows = [
            feed_forward_half(model, rank_weights, own)
            for rank_weights, own in zip(weights, middle, strict=True)
        ]
    total, gradient = 0.0, []
    gradients = [Parameters() for _ in parameters]
    for rank, own in enumerate(parameters):
        total += loss(own[OUTPUT], rows[rank], tokens[rank])
        back, gradients[rank][OUTPUT] = backward(
            model, OUTPUT, own[OUTPUT], rows[rank], tokens[rank], []
        )
        gradient.append(back)
    for name, layer in zip(reversed(names), reversed(kept), strict=True):
        weights = [own[name] for own in parameters]
        gradient, slopes = _layer_backward(job, weights, layer, tokens, gradient, exchange)
        for rank, rank_weights in enumerate(slopes):
            gradients[rank][name] = rank_weights
    for rank, rank_tokens in enumerate(tokens):
        table = parameters[rank][EMBEDDING]
        _, gradients[rank][EMBEDDING] = backward(
            model, EMBEDDING, table, [], rank_tokens, gradient[rank]
        )
    return total, gradients


Kept = tuple[Across, Across, list[Heads], tuple[Across, Across]]


def _attention(
    job: TinyJob, weights: list[Weights], rows: Across, tokens: list[Tokens], exchange: Exchange
) -> tuple[Across, list[Heads], tuple[Across, Across]]:
    head = head_size(job.model)
    heads = [
        project(norm(own, rank_weights["attention_norm"]), rank_weights, rank_tokens.places, head)
        for own, rank_weights, rank_tokens in zip(rows, weights, tokens, strict=True)
    ]
    done = ring_forward(heads, [rank_tokens.places for rank_tokens in tokens], exchange, head)
    middle = [
        add(own, product(context, rank_weights["out"]))
        for own, context, rank_weights in zip(rows, done[0], weights, strict=True)
    ]
    return middle, heads, done


def _layer_backward(
    job: TinyJob,
    weights: list[Weights],
    kept: Kept,
    tokens: list[Tokens],
    gradient: Across,
    exchange: Exchange,
) -> tuple[Across, list[Weights]]:
    rows, middle, heads, (contexts, logs) = kept
    head = head_size(job.model)
    gradients: list[Weights] = []
    after: Across = []
    done = []
    for rank, rank_weights in enumerate(weights):
        back, slopes = feed_forward_half_backward(
            job.model, rank_weights, middle[rank], gradient[rank]
        )
        slopes["out"] = transposed_product(contexts[rank], back)
        done.append(
            AttentionPass(
                query=heads[rank].query,
                result=contexts[rank],
                logs=logs[rank],
                gradient=product_transposed(back, rank_weights["out"]),
            )
        )
        after.append(back)
        gradients.append(slopes)
    of_heads = ring_backward(
        heads, done, [rank_tokens.places for rank_tokens in tokens], exchange, head
    )
    result = []
    for rank, rank_weights in enumerate(weights):
        normed = norm(rows[rank], rank_weights["attention_norm"])
        back, slopes = project_backward(
            normed, rank_weights, tokens[rank].places, head, of_heads[rank]
        )
        of_rows, of_norm = norm_backward(rows[rank], rank_weights["attention_norm"], back)
        gradients[rank] |= slopes | {"attention_norm": of_norm}
        result.append(add(after[rank], of_rows))
    return result, gradients


# Attention over a ring of ranks: keys and values go around, queries stay (Liu et al. 2023).
#
# Backward, keys and values go around once more, and with them the gradients that they collect.

Places = list[tuple[Place, ...]]


def ring_forward(
    heads: list[Heads], places: Places, exchange: Exchange, head: Count
) -> tuple[list[Matrix], list[Matrix]]:
    """Return every rank's result and logarithms; heads[rank] are its own rows."""
    ranks = exchange.ranks
    results: list[Matrix] = []
    logs: list[Matrix] = []
    for rank, rank_heads in enumerate(heads):
        result, log = attend(
            rank_heads.query, rank_heads, visible_keys(places[rank], places[rank]), head
        )
        results.append(result)
        logs.append(log)
    blocks = list(heads)
    for step in range(1, ranks):
        blocks = _pass_around(blocks, exchange)
        for rank, rank_heads in enumerate(heads):
            seen = visible_keys(places[rank], places[(rank - step) % ranks])
            result, log = attend(rank_heads.query, blocks[rank], seen, head)
            results[rank], logs[rank] = merge(results[rank], logs[rank], result, log, head)
    return results, logs


def ring_backward(
    heads: list[Heads], done: list[AttentionPass], places: Places, exchange: Exchange, head: Count
) -> list[Heads]:
    """Return every rank's gradients of its own queries, keys and values.

    The gradients of a rank's keys start at the next rank, the first that a block comes to, and
    are home after as many hops as there are other ranks.
    """
    ranks = exchange.ranks
    gradients = [
        attend_backward(done[rank], rank_heads, visible_keys(places[rank], places[rank]), head)
        for rank, rank_heads in enumerate(heads)
    ]
    blocks = list(heads)
    travelling: list[Heads] = []
    for step in range(1, ranks):
        blocks = _pass_around(blocks, exchange)
        if travelling:
            travelling = _pass_around(travelling, exchange)
        for rank in range(ranks):
            seen = visible_keys(places[rank], places[(rank - step) % ranks])
            rank_heads = attend_backward(done[rank], blocks[rank], seen, head)
            gradients[rank] = Heads(
                query=add(gradients[rank].query, rank_heads.query),
                key=gradients[rank].key,
                value=gradients[rank].value,
            )
            if step == 1:
                travelling.append(rank_heads)
            else:
                travelling[rank] = _add_keys_values(travelling[rank], rank_heads)
    if travelling:
        home = _pass_around(travelling, exchange)
        gradients = [
            _add_keys_values(rank_heads, back)
            for rank_heads, back in zip(gradients, home, strict=True)
        ]
    return gradients


def _add_keys_values(heads: Heads, other: Heads) -> Heads:
    """Return the keys and values of both added; the queries of the first."""
    return Heads(
        query=heads.query, key=add(heads.key, other.key), value=add(heads.value, other.value)
    )


def _pass_around(blocks: list[Heads], exchange: Exchange) -> list[Heads]:
    """Return the blocks after every rank has passed its keys and values to the next."""
    ranks, width = exchange.ranks, len(blocks[0].key[0])
    arrived = []
    for rank in range(ranks):
        source = (rank - 1) % ranks
        block = blocks[source]
        content = exchange.send(
            source, rank, flatten_rows(block.key) + flatten_rows(block.value), "activations"
        )
        half = len(content) // 2
        arrived.append(
            Heads(
                query=[],
                key=split_rows(content[:half], width),
                value=split_rows(content[half:], width),
            )
        )
    return arrived
