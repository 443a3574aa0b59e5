"""A noun after its number: "1 micro-batch", "8 micro-batches", "1 GPU"."""


def noun(count: float, one: str) -> str:
    """Return the noun in the number that the count asks for."""
    if count == 1:
        return one
    return f"{one}es" if one.endswith(("ch", "s", "x")) else f"{one}s"
