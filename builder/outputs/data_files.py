"""Data files of a project: what a function of its engine returns, published under `data/`."""

from collections.abc import Callable, Mapping
from importlib import import_module

from builder.calculators.cache_keys import CacheKeys
from builder.core.build_cache import BuildCache

FOLDER = "data/"


def read_data_files(dotted: str, keys: CacheKeys, cache: BuildCache) -> Mapping[str, bytes]:
    """Return name -> content of the data files, computed again when their code has changed.

    Args:
        dotted: the function, as in `Project.data`; "" if the project has none.
        keys: digests of code.
        cache: of earlier builds.
    """
    module, _, name = dotted.rpartition(".")
    if not module:
        return {}

    def compute() -> Mapping[str, bytes]:
        function: Callable[[], Mapping[str, str]] = getattr(import_module(module), name)
        return {file: text.encode() for file, text in function().items()}

    key = keys.digest_of(module.replace(".", "/") + ".py")
    return cache.get("data files", key, compute)


def output_files(dotted: str, keys: CacheKeys, cache: BuildCache) -> Mapping[str, bytes]:
    """Return path in the output -> content of the data files."""
    files = read_data_files(dotted, keys, cache)
    return {FOLDER + name: content for name, content in files.items()}
