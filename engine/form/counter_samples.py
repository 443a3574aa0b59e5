"""Sample outputs of perfquery, ethtool and rdma statistic, each twice; the numbers are made up."""

from collections.abc import Mapping

from engine.core.inputs import Sample

_START_TIME = 1_763_800_000


def _clock(seconds: float) -> str:
    return f"{_START_TIME + seconds:.3f}\n"


def _ethtool(values: Mapping[str, int]) -> str:
    rows = "".join(f"     {name}: {value}\n" for name, value in values.items())
    return f"NIC statistics:\n{rows}"


def _perfquery(values: Mapping[str, int]) -> str:
    rows = "".join(f"{name}:".ljust(33, ".") + f"{value}\n" for name, value in values.items())
    head = "# Port extended counters: Lid 6 port 1 (CapMask: 0x5A00 CapMask2: 0x02)\n"
    return (
        f"{head}PortSelect:......................1\nCounterSelect:...................0x0000\n{rows}"
    )


def _rdma(values: Mapping[str, int]) -> str:
    return "link mlx5_0/1 " + " ".join(f"{name} {value}" for name, value in values.items()) + "\n"


def _increased(values: Mapping[str, int], grown: Mapping[str, int]) -> dict[str, int]:
    return {name: value + grown.get(name, 0) for name, value in values.items()}


_ROCE = {
    "rx_bytes_phy": 91_337_120_455_218,
    "tx_bytes_phy": 88_120_417_733_101,
    "rx_discards_phy": 0,
    "rx_crc_errors_phy": 0,
    "rx_pcs_symbol_err_phy": 0,
    "link_down_events_phy": 1,
    "rx_prio3_pause": 148_213,
    "rx_prio3_pause_duration": 33_201_190,
    "tx_prio3_pause": 0,
    "tx_prio3_pause_duration": 0,
}
_IB = {
    "SymbolErrorCounter": 17,
    "LinkErrorRecoveryCounter": 0,
    "LinkDownedCounter": 0,
    "PortRcvErrors": 3,
    "PortXmitDiscards": 0,
    "PortXmitData": 7_710_355_219_433,
    "PortRcvData": 7_698_120_338_274,
    "PortXmitPkts": 7_530_001_822,
    "PortRcvPkts": 7_518_118_034,
    "PortXmitWait": 10_455_012,
}
_LINK = {
    "out_of_buffer": 135,
    "out_of_sequence": 0,
    "packet_seq_err": 12,
    "local_ack_timeout_err": 2,
    "roce_adp_retrans": 14,
    "rp_cnp_handled": 502_113,
    "np_ecn_marked_roce_packets": 1_204_118,
    "np_cnp_sent": 640_022,
}


def _two_readings(first: str, second: str, apart: float) -> str:
    return _clock(0.0) + first + _clock(apart) + second


SAMPLES: Mapping[str, Sample] = {
    "paused": Sample(
        title="RoCE, paused",
        text=_two_readings(
            _ethtool(_ROCE),
            _ethtool(
                _increased(
                    _ROCE,
                    {
                        "rx_bytes_phy": 118_400_000_000,
                        "tx_bytes_phy": 117_900_000_000,
                        "rx_prio3_pause": 41_870,
                        "rx_prio3_pause_duration": 3_310_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "cable": Sample(
        title="InfiniBand, a bad cable",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "SymbolErrorCounter": 212,
                        "LinkErrorRecoveryCounter": 2,
                        "PortRcvErrors": 96,
                        "PortXmitData": 41_250_000_000,
                        "PortRcvData": 40_830_000_000,
                        "PortXmitPkts": 40_300_000,
                        "PortRcvPkts": 39_900_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "credits": Sample(
        title="InfiniBand, no credits",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "PortXmitData": 44_100_000_000,
                        "PortRcvData": 96_300_000_000,
                        "PortXmitPkts": 43_100_000,
                        "PortRcvPkts": 94_100_000,
                        "PortXmitWait": 812_400_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "healthy": Sample(
        title="InfiniBand, busy",
        text=_two_readings(
            _perfquery(_IB),
            _perfquery(
                _increased(
                    _IB,
                    {
                        "PortXmitData": 118_900_000_000,
                        "PortRcvData": 118_700_000_000,
                        "PortXmitPkts": 116_100_000,
                        "PortRcvPkts": 116_000_000,
                    },
                )
            ),
            10.0,
        ),
    ),
    "lost": Sample(
        title="RoCE, packets lost",
        text=_two_readings(
            _rdma(_LINK),
            _rdma(
                _increased(
                    _LINK,
                    {
                        "out_of_sequence": 1_422,
                        "packet_seq_err": 611,
                        "local_ack_timeout_err": 37,
                        "roce_adp_retrans": 640,
                        "np_cnp_sent": 2_108,
                        "np_ecn_marked_roce_packets": 3_921,
                    },
                )
            ),
            10.0,
        ),
    ),
}
