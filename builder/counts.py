"""How many there are of something, in words."""


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 page", "0 pages", "2 addresses"."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else plural}"
