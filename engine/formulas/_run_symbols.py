"""One letter, one meaning, in every equation on a whole run."""

from collections.abc import Mapping

MEANING: Mapping[str, tuple[str, str]] = {
    "D": ("D", "tokens of the run"),
    "P": ("P", "parameters that work on one token"),
    "u": ("u", "share of the peak that is reached (MFU)"),
    "F": ("F", "peak of the GPU"),
    "n": ("n", "GPUs"),
    "r": ("r", "tokens per second per GPU"),
    "Tk": (r"T_{\mathrm{work}}", "time of the steps alone"),
    "Tr": (r"T_{\mathrm{run}}", "wall-clock time of the run"),
    "G": ("G", "GPU hours"),
    "p": ("p", "price of a GPU"),
    "K": ("K", "cost"),
    "W": ("W", "power of one GPU, at the plug of its server"),
    "x": (r"\mathrm{PUE}", "power of the building over that of its servers"),
    "E": ("E", "energy"),
    "Mg": (r"M_{\mathrm{GPU}}", "mean time between failures of one GPU"),
    "M": ("M", "mean time between failures of the job"),
    "d": (r"\delta", "time of one checkpoint"),
    "t": (r"\tau", "work between two checkpoints"),
    "R": ("R", "time of a restart"),
    "g": (r"\eta", "goodput"),
    "s": (r"\sigma", "standard deviation of a step over its mean"),
    "l": ("s", "how much slower the slow GPU is"),
    "m": ("m", "mean of the slowest of n"),
    "S": (r"\Delta", "slowdown by the slowest"),
    "q": ("q", "share of one GPU's steps that are shorter"),
    "A": ("P", "probability that all are"),
    "Gl": (r"G_{\mathrm{lost}}", "GPU hours lost"),
}


def symbols(keys: str) -> Mapping[str, tuple[str, str]]:
    """Return the meaning of each of the keys, which are separated by spaces."""
    return {key: MEANING[key] for key in keys.split()}
