"""One letter, one meaning, in every equation on communication."""

from collections.abc import Mapping

MEANING: Mapping[str, tuple[str, str]] = {
    "T": ("T", "time"),
    "S": ("S", "buffer to reduce"),
    "B": ("B", "bandwidth of a port, one way"),
    "a": (r"\alpha", "latency of one step"),
    "n": ("n", "ranks"),
    "V": ("V", "bytes that the busiest rank sends"),
    "g": ("g", "GPUs in a node"),
    "m": ("m", "nodes"),
    "Bu": (r"B_{\mathrm{up}}", "bandwidth inside the node, per GPU, one way"),
    "au": (r"\alpha_{\mathrm{up}}", "latency of one step inside the node"),
    "Bo": (r"B_{\mathrm{out}}", "bandwidth of all network ports of a node, one way"),
    "ao": (r"\alpha_{\mathrm{out}}", "latency of one step between nodes"),
    "Ba": (r"B_{\mathrm{alg}}", "algorithm bandwidth"),
    "Bb": (r"B_{\mathrm{bus}}", "bus bandwidth"),
    "f": ("f", "bus bandwidth factor"),
    "Sc": (r"S_{\times}", "size at which ring and tree take the same time"),
    "Sh": (r"S_{1/2}", "size at which half of the bandwidth is reached"),
    "P": ("P", "parameters"),
    "e": ("e", "bytes of one gradient"),
    "t": ("t", "tokens per GPU and step"),
    "u": ("u", "share of the peak that is reached (MFU)"),
    "F": ("F", "peak of the GPU"),
    "Tf": (r"T_{\mathrm{fwd}}", "forward pass"),
    "Tb": (r"T_{\mathrm{bwd}}", "backward pass"),
    "Tc": (r"T_{\mathrm{comp}}", "computation"),
    "Tm": (r"T_{\mathrm{comm}}", "all-reduce of all buckets, alone"),
    "Te": (r"T_{\mathrm{exposed}}", "communication that the step waits for"),
    "Ts": (r"T_{\mathrm{step}}", "step"),
    "N": ("N", "buckets"),
    "b": ("b", "largest bucket"),
    "q": ("q", "share"),
    "Ta": ("T_1", "time of the first message"),
    "Sa": ("S_1", "size of the first message"),
    "T2": ("T_2", "time of the second message"),
    "S2": ("S_2", "size of the second message"),
}


def symbols(keys: str) -> Mapping[str, tuple[str, str]]:
    """Return the meaning of each of the keys, which are separated by spaces."""
    return {key: MEANING[key] for key in keys.split()}
