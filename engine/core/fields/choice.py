"""Input fields without typed numbers: choice, switch, order."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.fields.scalar import Scalar
from engine.core.input_errors import InputError, list_options, quote
from engine.core.parsing import exact_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice among named options: `options` maps each value to its label.

    `also` maps names that other calculators give to an option: a kept job is in their words.
    `cites` is False where no option brings a source of its own to a number or a table: the build
    then tries none of them to find out, and a test does.
    """

    label: str
    options: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    cites: bool = field(default=True, repr=False)
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the value if it is among the options."""
        option = self.also.get(text.strip(), text.strip())
        if option not in self.options:
            raise InputError(f"{quote(text)} is not among {list_options(list(self.options))}")
        return option

    def show(self, value: Scalar) -> str:
        """Return the label of the option."""
        return self.options[str(value)]

    def range_words(self) -> str:
        """Return the options as a list in words."""
        return ", ".join(self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """On or off."""

    label: str
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return True for on, true, yes or 1, False for their opposites."""
        word = text.strip().lower()
        if word in ("on", "true", "yes", "1"):
            return True
        if word in ("off", "false", "no", "0"):
            return False
        raise InputError(f"{quote(text)} is neither on nor off")

    def show(self, value: Scalar) -> str:
        """Return on or off."""
        return exact_text(bool(value))

    def range_words(self) -> str:
        """Return the two values."""
        return "on, off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A few named items in the reader's order: each once, written "B-A-C" in an address.

    What is left out when typed comes last, so that no item is ever lost.
    """

    label: str
    items: tuple[str, ...]
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the order: the items named, then the remaining ones."""
        names = {item.lower(): item for item in self.items}
        order: list[str] = []
        for word in text.replace("-", " ").replace(",", " ").lower().split():
            if word not in names:
                raise InputError(f"{quote(word)} is not among {list_options(list(self.items))}")
            if names[word] in order:
                raise InputError(f"{names[word]} is there twice; each stands once in the order")
            order.append(names[word])
        if not order:
            raise InputError(f"{quote(text)} names nothing of {list_options(list(self.items))}")
        return "-".join((*order, *(item for item in self.items if item not in order)))

    def show(self, value: Scalar) -> str:
        """Return the items as the reader sees and types them."""
        return str(value).replace("-", " ")

    def range_words(self) -> str:
        """Return the items in words."""
        return f"{', '.join(self.items)} in any order"
