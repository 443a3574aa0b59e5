"""Texts that readers paste: the check under their box."""

from collections.abc import Callable

from engine.core.inputs import InputError
from engine.run.importers.import_report import TextError


def checked_by(read: Callable[[str], object]) -> Callable[[str], None]:
    """Return the check of a text: `InputError`, in the words of what reads it, where it cannot."""

    def check(text: str) -> None:
        try:
            read(text)
        except TextError as error:
            raise InputError(str(error)) from None

    return check
