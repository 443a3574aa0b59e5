"""What a GPU costs for an hour on demand: one public list price for each kind that has one.

Prices change by the week and differ several times between providers. These are defaults that a
reader replaces, each of one provider, per GPU, in whole nodes where the provider has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import HOUR, Price


@dataclass(frozen=True, slots=True, kw_only=True)
class RentalPrice:
    """The list price of one kind of GPU.

    Attributes:
        price: in US dollars, per second of one GPU.
        provider: whose price list says so.
        date: year and month in which the list was read.
        source: key of the bibliography.
    """

    price: Price
    provider: str
    date: str
    source: str


def _price(dollars: float, provider: str, date: str, source: str) -> RentalPrice:
    """Return a list price, given per hour."""
    return RentalPrice(price=dollars / HOUR, provider=provider, date=date, source=source)


def _lambda(dollars: float) -> RentalPrice:
    return _price(dollars, "Lambda", "2026-09", "lambda_prices")


def _coreweave(dollars: float) -> RentalPrice:
    return _price(dollars, "CoreWeave", "2026-09", "coreweave_prices")


RENTAL_PRICES: Mapping[str, RentalPrice] = {
    "A100-SXM-40GB": _lambda(1.99),
    "A100-SXM-80GB": _lambda(2.79),
    "H100-SXM": _lambda(3.99),
    "H100-PCIe": _lambda(3.29),
    "GH200-96GB": _lambda(2.29),
    "B200": _lambda(6.69),
    "H200-SXM": _coreweave(50.44 / 8),
    "GB200": _coreweave(42.00 / 4),
    "L40S": _coreweave(18.00 / 8),
    "B300": _price(7.40, "Hyperstack", "2026-08", "hyperstack_prices"),
    "MI300X": _price(2.59, "DigitalOcean", "2026-10", "digitalocean_prices"),
}
