"""Validation of pasted texts."""

from collections.abc import Callable

from engine.core.inputs import InputError
from engine.run.importers.text_error import TextError


def text_check(read: Callable[[str], object]) -> Callable[[str], None]:
    """Return a check that turns the parser's error into an `InputError`."""

    def check(text: str) -> None:
        try:
            read(text)
        except TextError as error:
            raise InputError(str(error)) from None

    return check
