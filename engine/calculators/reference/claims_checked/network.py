"""Claims about links, latencies and overlap."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.calculators.reference.claims_checked.waiting import waiting_claim
from engine.catalog.hardware import LINKS, MEASURED
from engine.core.text import say
from engine.core.units import BANDWIDTH, GB, LINK_SPEED, MB, MICRO, RATIO, SECONDS, SHARE, Gbit, MiB
from engine.formulas.communication import in_network_gain, point_to_point_time
from engine.formulas.overlap import exposed_time, hidden_share

_STACK, _PIPELINE = "day1inference", "pingdo_pipeline"
# What a published waterfall adds up, in microseconds: launch, memory read, PCIe, NIC, fabric, NIC,
# PCIe, memory write.
_WATERFALL = (4.0, 0.12, 3.5, 1.3, 1.2, 1.3, 3.5, 0.12)
_PORT = 400 * Gbit


def claims() -> tuple[Claim, ...]:
    """Return the claims: from the wire up."""
    return (*_links(), *_latency(), *_overlap(), waiting_claim())


def _links() -> tuple[Claim, ...]:
    nvlink = LINKS["nvlink4"].bandwidth
    gain = MEASURED["h200_nvls"].bus_bandwidth / MEASURED["h200_ring"].bus_bandwidth
    return (
        Claim(
            key="E3.20",
            said="Bandwidth of an H100's NVLink, and of a 400 Gb/s port",
            printed="900 GB/s and 50 GB/s",
            right=say(
                "{nvlink} and {port} one way, a ratio of {ratio}",
                nvlink=(nvlink, BANDWIDTH),
                port=(_PORT, BANDWIDTH),
                ratio=(nvlink / _PORT, RATIO),
            ),
            verdict="misleading",
            why="The printed value for NVLink adds both directions. The one for the port counts "
            "one.",
            sources=("pingdo_sync", "nvidia_h100"),
        ),
        Claim(
            key="E4.25",
            said="Bandwidth of an NDR InfiniBand port",
            printed="800 Gb/s",
            right=say(
                "{ndr}; XDR has {xdr}",
                ndr=(LINKS["infiniband_ndr"].bandwidth, LINK_SPEED),
                xdr=(LINKS["infiniband_xdr"].bandwidth, LINK_SPEED),
            ),
            verdict="wrong",
            why="The printed value is that of the next generation, XDR.",
            sources=(_PIPELINE, "bekman2025"),
        ),
        Claim(
            key="E0.9",
            said="How much faster an all-reduce over 8 GPUs is if the switch does the additions",
            printed="2×",
            right=say(
                "{theory} at most, {measured} measured",
                theory=(in_network_gain(8), RATIO),
                measured=(gain, RATIO),
            ),
            verdict="condition",
            why="A factor of two is the limit for very many GPUs. The measurement is an all-reduce "
            "of 8 GiB on eight H200.",
            sources=(_STACK, "graham2016", "bekman2025"),
        ),
        Claim(
            key="E4.50",
            said="Time to send 67.1 MB at 100 GB/s",
            printed="0.67 µs",
            right=say("{time}", time=(point_to_point_time(67.1 * MB, 100 * GB, 0.0), SECONDS)),
            verdict="wrong",
            why="The printed time is too small by a factor of a thousand.",
            sources=(_PIPELINE,),
        ),
    )


def _latency() -> tuple[Claim, ...]:
    total, bus = sum(_WATERFALL) * MICRO, 2 * 3.5 * MICRO
    wire = 64 * MiB / _PORT
    return (
        Claim(
            key="E0.1",
            said="Share of PCIe in the latency of a message between nodes",
            printed=say("{share}", share=(bus / total, SHARE)),
            right=say(
                "{share} of the time of a message of 64 MiB", share=(bus / (total + wire), SHARE)
            ),
            verdict="misleading",
            why=say(
                "The printed share is made of the middles of the source's own ranges, not of a "
                "measurement, and holds for a message without any bytes. For 64 MiB the wire alone "
                "takes {wire}.",
                wire=(wire, SECONDS),
            ),
            sources=(_STACK,),
        ),
    )


def _overlap() -> tuple[Claim, ...]:
    # The published example: 500 MB over 8 GPUs at 300 GB/s in 16 pieces, a backward pass of 170 ms.
    whole, backward = 2 * 7 / 8 * 500 * MB / (300 * GB), 170e-3
    exposed = exposed_time(whole, backward, 16)
    return (
        Claim(
            key="E4.42",
            said="Share of the communication that is hidden if only the last of 16 buckets is not",
            printed=say("{share}", share=(min(1.0, whole / backward), SHARE)),
            right=say("{share} hidden", share=(hidden_share(whole, exposed), SHARE)),
            verdict="wrong",
            why="The source divides communication time by computing time, so its efficiency falls "
            "as the overlap gets better. Its example is 500 MB over 8 GPUs at 300 GB/s beside a "
            "backward pass of 170 ms.",
            sources=(_PIPELINE,),
        ),
        Claim(
            key="E4.46",
            said="The best number of pieces to cut that gradient into",
            printed="16",
            right=say(
                "{one} exposed with one piece, {some} with 16, {many} with 64",
                one=(exposed_time(whole, backward, 1), SECONDS),
                some=(exposed, SECONDS),
                many=(exposed_time(whole, backward, 64), SECONDS),
            ),
            verdict="wrong",
            why="The exposed time keeps falling with the number of pieces, until the latencies of "
            "the pieces fill the backward pass.",
            sources=(_PIPELINE,),
        ),
        Claim(
            key="E0.6",
            said="How much faster a step gets when communication no longer takes multiprocessors",
            printed="1.5 to 2.6×",
            right="measured: communication slows computing by 18.9 % on average and 40 % at most, "
            "and no more than that can be gained",
            verdict="wrong",
            why="The factor of 2.6 compares the communication kernels of two libraries. It is not "
            "a gain of a training step.",
            sources=(_STACK, "lee2025"),
        ),
    )
