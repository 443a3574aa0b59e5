"""Cooperative computation in slices: generators that yield progress and return a result.

Natively it runs to its end at once. A reader's browser runs it for less than a tenth of a second at
a time, so that a change of an input, or Cancel, is heard between two slices.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Generic, ParamSpec, TypeVar

from engine.core.text import Text, say
from engine.core.units import COUNT, Count, Share

ResultT = TypeVar("ResultT")
Params = ParamSpec("Params")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a computation.

    Attributes:
        share: of the work, as far as it can be told now.
        text: the same in words.
    """

    share: Share
    text: Text


Slices = Generator[Progress, None, ResultT]


def run_to_end(slices: Slices[ResultT]) -> ResultT:
    """Return the result of a sliced computation, run to its end."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            result: ResultT = end.value
            return result


class SlicedFunction(Generic[Params, ResultT]):
    """A function that computes in slices; an ordinary call runs all of them.

    Attributes:
        slices: the function.
    """

    def __init__(self, slices: Callable[Params, Slices[ResultT]]) -> None:
        self.slices = slices

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> ResultT:
        """Return the result of all slices."""
        return run_to_end(self.slices(*args, **kwargs))


def step_progress(done: Count, every: Count, name: str = "Step") -> Progress:
    """Return the progress after `done` of `every` equal steps, each called `name`."""
    text = say(name + " {done} of {every}", done=(done, COUNT), every=(every, COUNT))
    return Progress(share=done / every, text=text)


def map_progress(
    slices: Slices[ResultT], convert: Callable[[Progress], Progress]
) -> Slices[ResultT]:
    """Yield the converted progress of a sliced computation and return its result."""
    while True:
        try:
            progress = next(slices)
        except StopIteration as end:
            result: ResultT = end.value
            return result
        yield convert(progress)


def partial_progress(
    slices: Slices[ResultT], done: Count, parts: Count, *, count: Count = 1
) -> Slices[ResultT]:
    """Run a sliced computation as `count` of `parts` equal parts, the `done` before it finished."""

    def tell(progress: Progress) -> Progress:
        return replace(progress, share=(done + count * progress.share) / parts)

    return map_progress(slices, tell)


class SlicedRun(Generic[ResultT]):
    """A started computation in slices, which keeps its result or error."""

    def __init__(self, slices: Slices[ResultT]) -> None:
        self._slices = slices
        self._found: list[ResultT] = []
        self._failed: Exception | None = None
        self.progress: Progress | None = None

    def until(self, should_pause: Callable[[], bool]) -> ResultT | None:
        """Return the result, or None if `should_pause()` is true first; the next call continues.

        What has failed fails again.
        """
        if self._failed:
            raise self._failed
        while not self._found:
            try:
                self.progress = next(self._slices)
            except StopIteration as end:
                self._found.append(end.value)
                break
            except Exception as error:
                self._failed = error
                raise
            if should_pause():
                return None
        return self._found[0]

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return bool(self._found)

    def rest(self) -> Slices[ResultT]:
        """Run the remaining slices as part of another sliced computation."""
        while (result := self.until(lambda: True)) is None:
            assert self.progress is not None
            yield self.progress
        return result
