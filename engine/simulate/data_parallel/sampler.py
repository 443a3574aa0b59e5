"""Samples that each data-parallel rank reads per epoch, as PyTorch's DistributedSampler."""

from engine.core.units import Count


def sampler_shards(
    dataset: Count, num_ranks: Count, *, drop_last: bool
) -> tuple[tuple[int, ...], ...]:
    """Return the sample numbers that each rank reads, from 0.

    Every n-th index, filled up from the start so that all shards are alike, or cut short.
    Source: the documentation of torch.utils.data.distributed.DistributedSampler; unshuffled.
    """
    indices = tuple(range(dataset))
    each, remainder = divmod(dataset, num_ranks)
    if remainder and not drop_last:
        each += 1
    total = each * num_ranks
    # A dataset smaller than the padding is repeated as often as it takes.
    filled = (indices * (total // dataset + 1))[:total]
    return tuple(filled[rank::num_ranks] for rank in range(num_ranks))


def reads_without_sampler(dataset: Count, num_ranks: Count) -> tuple[tuple[int, ...], ...]:
    """Return the samples of ranks without a sampler: every rank reads the whole data set."""
    return (tuple(range(dataset)),) * num_ranks
