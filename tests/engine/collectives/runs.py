"""Checks of the runs of collectives: what every rank ends with, and the time of their rounds."""

from engine.simulate.collectives.collective_execution import expected_cell


def is_complete(trace):
    """Return whether every rank ends with exactly the chunks that the operation must deliver."""
    final = trace.frames[-1].state
    return all(
        final[rank][chunk] == expected
        for rank in range(trace.world_size)
        for chunk in range(trace.chunks)
        if (expected := expected_cell(trace, rank, chunk)) is not None
    )


def synchronous_time(trace, size, bandwidth, latency):
    """Return the time of the run when every round waits for the one before it.

    A round takes one latency plus the bytes of its busiest port, in the busier direction, over
    the bandwidth. For rings and stars this is their closed form. For the double tree, with its
    halves in k pieces each, it is at least the closed form, and at most 2 depth + k - 1 rounds of
    latency + 2 size / (k bandwidth): a factor of 1 + (2 depth - 1)/k on the bandwidth part, the
    cost of filling the pipeline.
    """
    per_chunk = size / trace.buffer_chunks
    return sum(
        (
            latency + _busiest_port_chunks(before, after) * per_chunk / bandwidth
            for before, after in zip(trace.frames, trace.frames[1:], strict=False)
        ),
        0.0,
    )


def _busiest_port_chunks(before, after):
    sent = zip(before.sent, after.sent, strict=True)
    received = zip(before.received, after.received, strict=True)
    return max(new - old for pairs in (sent, received) for old, new in pairs)
