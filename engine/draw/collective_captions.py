"""Captions of a collective's frames, also for screen readers."""

from engine.core.message import Transfer
from engine.simulate.collectives.collective_trace import ChunkState, CollectiveTrace

ExpectedCells = dict[tuple[int, int], ChunkState]

_START_CAPTIONS = {
    "all_gather": "At the start every GPU has one chunk. All must end with all chunks.",
    "gather": "At the start every GPU has one chunk. GPU 0 must end with all of them.",
    "broadcast": "At the start only GPU 0 has the buffer. All must end with it.",
    "scatter": "At the start only GPU 0 has the buffer. Every GPU must end with its own chunk.",
    "all_to_all": "At the start every GPU has a block for every other. Each must end with the "
    "blocks that are meant for it.",
}
ADDING = ("all_reduce", "reduce_scatter", "reduce")


def caption(trace: CollectiveTrace, owed: ExpectedCells, number: int, *, arrived: bool) -> str:
    """Return the caption of round `number`, before or after its messages arrive."""
    rounds = len(trace.frames) - 1
    frame = trace.frames[number]
    if number == 0:
        return _start_caption(trace)
    if not arrived:
        count = len(frame.transfers)
        messages = "1 message leaves" if count == 1 else f"{count} messages leave"
        return f"Round {number} of {rounds}: {messages}; {_action_text(trace, frame.transfers)}."
    done = sum(frame.state[rank][chunk] == cell for (rank, chunk), cell in owed.items())
    sent = max(frame.sent[: trace.world_size]) / trace.buffer_chunks
    ending = f"The busiest port has sent {sent:.3g} times the buffer."
    if number == rounds and done == len(owed):
        rounds_of = "1 round" if rounds == 1 else f"{rounds} rounds"
        hold = "the exact sums" if trace.operation in ADDING else "what they should"
        return f"Done in {rounds_of}: all {done} cells hold {hold}. {ending}"
    return f"Round {number} of {rounds} done: {done} of {len(owed)} cells are finished. {ending}"


def _start_caption(trace: CollectiveTrace) -> str:
    if trace.operation in _START_CAPTIONS:
        return _START_CAPTIONS[trace.operation]
    parts = [row[0].value for row in trace.frames[0].state if row[0].ranks]
    sums = " + ".join(map(str, parts))
    start = "At the start every GPU has its own numbers."
    return f"{start} The first chunk must become {sums} = {sum(parts)}."


def _action_text(trace: CollectiveTrace, transfers: tuple[Transfer, ...]) -> str:
    switch = trace.world_size
    if any(transfer.target == switch for transfer in transfers):
        return "the switch adds" if transfers[0].reduce else "the switch takes the finished sums"
    if any(transfer.source == switch for transfer in transfers):
        return "the switch hands out sums"
    if all(transfer.reduce for transfer in transfers):
        return "the receiver adds"
    if any(transfer.reduce for transfer in transfers):
        return "some are added on the way up, some are finished sums on the way down"
    if trace.operation == "all_reduce":
        return "the receiver keeps the finished sum"
    return "the receiver keeps a copy"
