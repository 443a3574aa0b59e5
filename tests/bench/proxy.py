"""A slow network in front of a host: latency on each way, one bucket of bandwidth for all.

It forwards bytes, not requests, so that it works for any host and changes nothing in what is
said. What a new connection costs (one round trip before the first byte) is waited for too.
"""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

PIECE = 8 * 1024


class Bucket:
    """The shared link: hands out moments at which a piece has been sent completely."""

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth = bandwidth
        self.free_at = 0.0

    def sent_at(self, size: int, now: float) -> float:
        self.free_at = max(self.free_at, now) + size / self.bandwidth
        return self.free_at


async def forward(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bucket: Bucket, delay: float
) -> None:
    """Copy bytes; each piece arrives `delay` seconds after the link has sent it."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=64)

    async def deliver() -> None:
        while True:
            at, piece = await pieces.get()
            await asyncio.sleep(max(0.0, at - loop.time()))
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def collect() -> None:
        piece = b"."
        while piece:
            piece = await reader.read(PIECE)
            sent = bucket.sent_at(len(piece), loop.time())
            await asyncio.sleep(max(0.0, sent - loop.time()))
            await pieces.put((sent + delay, piece))

    async with asyncio.TaskGroup() as group:
        group.create_task(deliver())
        group.create_task(collect())


async def relay(port: int, bandwidth: float, round_trip: float, opened: Future) -> None:
    """Forward a free port to `port` until stopped; `opened` gets that port and how to stop."""
    down, up = Bucket(bandwidth), Bucket(bandwidth)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A page that closes takes its connections with it; so does the end of the proxy.
        with suppress(ConnectionError, ExceptionGroup, asyncio.CancelledError):
            await asyncio.sleep(round_trip)  # the handshake of a new connection
            inner, outer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.TaskGroup() as group:
                group.create_task(forward(reader, outer, up, round_trip / 2))
                group.create_task(forward(inner, writer, down, round_trip / 2))

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    here = server.sockets[0].getsockname()[1]
    opened.set_result((here, lambda: loop.call_soon_threadsafe(stop.set)))
    await stop.wait()
    server.close()


@contextmanager
def slow(port: int, bandwidth: float, round_trip: float) -> Iterator[int]:
    """Yield a port that leads to `port` over a link of `bandwidth` bytes per second each way.

    Args:
        port: of a host on 127.0.0.1.
        bandwidth: bytes per second, shared by all connections.
        round_trip: seconds.
    """
    opened: Future = Future()
    work = relay(port, bandwidth, round_trip, opened)
    thread = threading.Thread(target=asyncio.run, args=(work,))
    thread.start()
    here, stop = opened.result()
    try:
        yield here
    finally:
        stop()
        thread.join()
