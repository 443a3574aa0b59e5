"""Work in slices: a generator that tells now and then how far it is, and returns what it found.

Natively it runs to its end at once. A reader's browser runs it for less than a tenth of a second at
a time, so that a change of an input, or Cancel, is heard between two slices.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Generic, ParamSpec, TypeVar

from engine.core.text import Text, say
from engine.core.units import COUNT, Count, Share

Found = TypeVar("Found")
Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search is.

    Attributes:
        share: of the work, as far as it can be told now.
        text: the same in words.
    """

    share: Share
    text: Text


Slices = Generator[Progress, None, Found]


def whole(slices: Slices[Found]) -> Found:
    """Return what work in slices finds, run to its end."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            found: Found = end.value
            return found


class Sliced(Generic[Given, Found]):
    """A function that works in slices: called, it works to its end at once.

    Attributes:
        slices: the function.
    """

    def __init__(self, slices: Callable[Given, Slices[Found]]) -> None:
        self.slices = slices

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Found:
        """Return what it finds."""
        return whole(self.slices(*given, **named))


def steps_done(done: Count, every: Count, name: str = "Step") -> Progress:
    """Return how far work of equally long steps is; `name` says what one of them is."""
    told = say(name + " {done} of {every}", done=(done, COUNT), every=(every, COUNT))
    return Progress(share=done / every, text=told)


def retold(slices: Slices[Found], tell: Callable[[Progress], Progress]) -> Slices[Found]:
    """Go on with work, telling of it something else."""
    while True:
        try:
            progress = next(slices)
        except StopIteration as end:
            found: Found = end.value
            return found
        yield tell(progress)


def part(slices: Slices[Found], at: Count, parts: Count, *, many: Count = 1) -> Slices[Found]:
    """Go on with work that is `many` of equally long parts, `at` of them done before."""

    def tell(progress: Progress) -> Progress:
        return replace(progress, share=(at + many * progress.share) / parts)

    return retold(slices, tell)


class Running(Generic[Found]):
    """Work in slices that has begun, and what it found once it has ended."""

    def __init__(self, slices: Slices[Found]) -> None:
        self._slices = slices
        self._found: list[Found] = []
        self._failed: Exception | None = None
        self.progress: Progress | None = None

    def until(self, enough: Callable[[], bool]) -> Found | None:
        """Return what it finds; None if it was enough before that. The next call goes on there.

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
            if enough():
                return None
        return self._found[0]

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return bool(self._found)

    def rest(self) -> Slices[Found]:
        """Go on with it in slices, as a part of other work."""
        while (found := self.until(lambda: True)) is None:
            assert self.progress is not None
            yield self.progress
        return found
