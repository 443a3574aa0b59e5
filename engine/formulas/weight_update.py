"""New weights from the GPUs that train to the GPUs that generate: bytes and time of each way.

Letters: P parameters, e bytes of one, N training GPUs, G generating GPUs, t of them in an engine,
B the bandwidth of a GPU's share of the ports.
"""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds

_SYMBOLS = {
    "T": ("T", "time"),
    "P": ("P", "parameters"),
    "e": ("e", "bytes of a parameter"),
    "N": ("N", "GPUs that train"),
    "G": ("G", "GPUs that generate"),
    "t": ("t", "GPUs of an engine"),
    "B": ("B", "bandwidth of the ports of one GPU"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys}


ONE_SENDER = Equation(
    name="weight_update_one_sender",
    tex=r"\v{T} = \frac{\v{P}\,\v{e}}{\v{B}}",
    symbols=_symbols("TPeB"),
    title="Sending new weights from one GPU",
)


def one_sender_time(parameters: Parameters, element: Bytes, port: Bandwidth) -> Seconds:
    """Return the time of a broadcast of all weights from one GPU: its port sends them once.

    Source: derived; a pipelined ring or tree sends each byte once from its root (Chan et al. 2007).
    """
    return parameters * element / port


SHARED_SENDING = Equation(
    name="weight_update_shared",
    tex=(
        r"\v{T} = \frac{\v{P}\,\v{e}}{\v{t}\,\v{B}}"
        r" \max\left(1, \frac{\v{G}}{\v{N}}\right)"
    ),
    symbols=_symbols("TPetBGN"),
    title="Sending new weights from all GPUs",
)


def shared_sending_time(
    parameters: Parameters,
    element: Bytes,
    senders: Count,
    receivers: Count,
    engine: Count,
    port: Bandwidth,
) -> Seconds:
    """Return the time when every training GPU sends its part to whoever needs it.

    Each receiver gets the slice of its engine, 1/t of the weights; receivers' or senders' ports
    bind, whichever are fewer.

    Source: derived. Limit: slices are cut so that all ports are evenly used.
    """
    slice_size = parameters * element / engine
    return slice_size / port * max(1.0, receivers / senders)


def by_files_time(
    parameters: Parameters, element: Bytes, engines: Count, storage: Bandwidth
) -> Seconds:
    """Return the time to write the weights to shared storage once and to read them by each engine.

    Source: derived; `storage` is what all readers share.
    """
    return parameters * element * (1 + engines) / storage
