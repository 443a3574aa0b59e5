"""Singular and plural nouns: "1 micro-batch", "8 micro-batches"."""


def pluralize(count: float, singular: str) -> str:
    """Return the noun in singular or plural, by the count."""
    if count == 1:
        return singular
    return f"{singular}es" if singular.endswith(("ch", "s", "x")) else f"{singular}s"
