"""Counters of `rdma statistic` and of /sys/.../hw_counters by adapter: mlx5, bnxt_re, ionic, EFA.

Sources: NVIDIA's page on counters and rdma-statistic(8) for mlx5; bnxt_re's hw_counters.c; Amazon's
page on EFA's driver metrics and efa_verbs.c. Files of Broadcom's own bnxt_re bear mlx5's names for
other counts: AMD's rccl-tests list them, and the names of ionic, whose firmware hands them out.
"""

import re
from collections.abc import Mapping

from engine.catalog.port_counters import (
    BROKEN,
    DATA,
    HOST,
    LOST,
    MARKED,
    PACKETS,
    CounterTable,
    PortCounter,
    count,
    patterns,
)

# Packets that come out of order are no loss: adaptive routing sends them so, and adapters place
# them (NVIDIA, "Out-of-Order (OOO) Data Placement"). A loss shows as a request to send again.
MLX5: Mapping[str, PortCounter] = {
    "np_ecn_marked_roce_packets": count(MARKED, "marked packets received"),
    "np_cnp_sent": count(MARKED, "senders asked to slow down", sends=True),
    "rp_cnp_handled": count(MARKED, "times this port slowed down"),
    "rp_cnp_ignored": count("", "requests to slow down that were ignored"),
    "out_of_sequence": count("", "packets out of order; adaptive routing does that too"),
    "packet_seq_err": count(LOST, "requests to send again received"),
    "local_ack_timeout_err": count(LOST, "answers that never came"),
    "implied_nak_seq_err": count(LOST, "answers that show a loss"),
    "roce_adp_retrans": count(LOST, "messages sent again", sends=True),
    "roce_adp_retrans_to": count(LOST, "messages sent again after a time-out", sends=True),
    "roce_slow_restart": count("", "restarts at a lower speed"),
    "roce_slow_restart_cnps": count("", "restarts at a lower speed, by notification"),
    "roce_slow_restart_trans": count("", "restarts at a lower speed, ended"),
    "out_of_buffer": count("", "messages that the host had no room for"),
    "rnr_nak_retry_err": count("", "answers that the receiver was not ready"),
    "duplicate_request": count("", "requests that came twice"),
    "rx_icrc_encapsulated": count(BROKEN, "packets with a wrong checksum"),
    "rx_write_requests": count("", "writes received"),
    "rx_read_requests": count("", "reads received"),
    "rx_atomic_requests": count("", "atomic operations received"),
    "rx_dct_connect": count("", "connections received"),
    "lifespan": count("", "how long a value is kept, in milliseconds"),
}
_MLX5_PATTERNS = patterns(
    {
        r"(?:req|resp)_\w+": count("", "requests that ended with an error"),
        r"(?:rx|tx)_rdma_\w+": count("", "of RDMA traffic"),
    }
)
BNXT_RE: Mapping[str, PortCounter] = {
    "rx_bytes": count(DATA, "bytes of RDMA received", 1.0),
    "tx_bytes": count(DATA, "bytes of RDMA sent", 1.0, sends=True),
    "rx_pkts": count(PACKETS, "packets of RDMA received"),
    "tx_pkts": count(PACKETS, "packets of RDMA sent", sends=True),
    "to_retransmits": count(LOST, "messages sent again after a time-out", sends=True),
    "seq_err_naks_rcvd": count(LOST, "requests to send again received"),
    "max_retry_exceeded": count(LOST, "connections given up"),
    "missing_resp": count(LOST, "answers that never came"),
    "oos_drop_count": count(LOST, "packets dropped because an earlier one was missing"),
    "rnr_naks_rcvd": count("", "answers that the receiver was not ready"),
    "rx_roce_errors": count(BROKEN, "packets of RDMA with errors"),
    "rx_roce_discards": count(HOST, "packets of RDMA dropped by this host"),
    "rx_out_of_buffer": count(HOST, "packets of RDMA dropped, no buffer"),
    "rx_ecn_marked_pkts": count(MARKED, "marked packets received"),
    "rx_cnp_pkts": count(MARKED, "times this port was asked to slow down"),
    "tx_cnp_pkts": count(MARKED, "senders asked to slow down", sends=True),
    # Broadcom's own driver, under the names of mlx5.
    "out_of_sequence": count(LOST, "requests to send again received"),
    "out_of_buffer": count(LOST, "packets dropped because an earlier one was missing"),
    "roce_adp_retrans": count(LOST, "messages sent again after a time-out", sends=True),
    "rp_cnp_handled": count(MARKED, "times this port was asked to slow down"),
    "np_cnp_sent": count(MARKED, "senders asked to slow down", sends=True),
    "dup_req": count("", "requests that came twice"),
    "recoverable_errors": count("", "errors that the adapter recovered from"),
}
_BNXT_PATTERNS = patterns(
    {
        r"active_\w+|watermark_\w+|resize_cq_count": count("", "objects in use"),
        r"res_\w+|\w+_err": count("", "requests that ended with an error"),
        r"[rt]x_(?:atomic|read|write|send)_\w+": count("", "operations"),
        r"rx_roce_good_(?:pkts|bytes)|tx_roce_\w+|rx_roce_\w+": count("", "of RDMA traffic"),
    }
)
EFA: Mapping[str, PortCounter] = {
    "rx_bytes": count(DATA, "bytes received", 1.0),
    "tx_bytes": count(DATA, "bytes sent", 1.0, sends=True),
    "rx_pkts": count(PACKETS, "packets received"),
    "tx_pkts": count(PACKETS, "packets sent", sends=True),
    "rx_drops": count(HOST, "packets received and dropped"),
    "retrans_pkts": count(LOST, "packets sent again", sends=True),
    "retrans_bytes": count("", "bytes sent again", sends=True),
    "retrans_timeout_events": count(LOST, "time-outs after which the path changed"),
    "impaired_remote_conn_events": count(LOST, "connections that slowed down for losses"),
    "unresponsive_remote_events": count(LOST, "receivers that did not answer"),
    "keep_alive_rcvd": count("", "signs of life of the device"),
}
_EFA_PATTERNS = patterns(
    {
        r"(?:send|recv|rdma_read|rdma_write)_(?:\w*_)?(?:bytes|wrs)": count("", "operations"),
        r"rdma_(?:read|write)_wr_err": count("", "operations that ended with an error"),
        r"(?:submitted|completed|no_completion)_cmds|cmds_err|\w+_err|lifespan": count(
            "", "commands to the device"
        ),
    }
)
IONIC: Mapping[str, PortCounter] = {
    "rx_rdma_ucast_bytes": count(DATA, "bytes of RDMA received", 1.0),
    "tx_rdma_ucast_bytes": count(DATA, "bytes of RDMA sent", 1.0, sends=True),
    "rx_rdma_ucast_pkts": count(PACKETS, "packets of RDMA received"),
    "tx_rdma_ucast_pkts": count(PACKETS, "packets of RDMA sent", sends=True),
    "rx_rdma_ecn_pkts": count(MARKED, "marked packets received"),
    "rx_rdma_cnp_pkts": count(MARKED, "times this port was asked to slow down"),
    "tx_rdma_cnp_pkts": count(MARKED, "senders asked to slow down", sends=True),
    "tx_rdma_ack_timeout": count(LOST, "answers that never came", sends=True),
    "tx_rdma_retx_pkts": count(LOST, "packets sent again", sends=True),
    "tx_rdma_retx_bytes": count("", "bytes sent again", sends=True),
    "rx_rdma_mtu_discard_pkts": count(LOST, "packets dropped for their size"),
    "req_rx_pkt_seq_err": count(LOST, "requests to send again received"),
    "req_rx_impl_nak_seq_err": count(LOST, "answers that show a loss"),
    "req_tx_retry_excd_err": count(LOST, "connections given up"),
    "resp_tx_pkt_seq_err": count(LOST, "requests to send again sent", sends=True),
    "resp_rx_outof_buf": count(HOST, "packets of RDMA dropped, no buffer"),
    "resp_rx_outouf_seq": count("", "packets out of order; several paths do that too"),
    "resp_rx_dup_request": count("", "requests that came twice"),
    "req_rx_rnr_retry_err": count("", "answers that the receiver was not ready"),
    "resp_tx_rnr_retry_err": count("", "answers that this host was not ready", sends=True),
}
_IONIC_PATTERNS = patterns(
    {
        r"re(?:q|sp)_[rt]x_\w+": count("", "requests that ended with an error"),
        r"[rt]x_rdma_\w+": count("", "of RDMA traffic"),
    }
)
TABLES: tuple[CounterTable, ...] = (
    CounterTable(
        name="EFA",
        kind="rdma",
        counters=EFA,
        patterns=_EFA_PATTERNS,
        sign=re.compile(r"retrans_\w+|rdma_read_wrs|keep_alive_rcvd|submitted_cmds|rx_drops"),
        source="efa_counters",
    ),
    CounterTable(
        name="bnxt_re",
        kind="rdma",
        counters=BNXT_RE,
        patterns=_BNXT_PATTERNS,
        sign=re.compile(r"to_retransmits|seq_err_naks_rcvd|active_qps|oos_drop_count|rx_roce_\w+"),
        source="bnxt_re_counters",
    ),
    CounterTable(
        name="ionic",
        kind="rdma",
        counters=IONIC,
        patterns=_IONIC_PATTERNS,
        sign=re.compile(
            r"[rt]x_rdma_(?:ack|cnp|ecn|ucast|mcast|retx|mtu)_\w+|re(?:q|sp)_[rt]x_\w+"
        ),
        source="rccl_counters",
    ),
    CounterTable(
        name="mlx5",
        kind="rdma",
        counters=MLX5,
        patterns=_MLX5_PATTERNS,
        sign=re.compile(
            r"out_of_sequence|packet_seq_err|local_ack_timeout_err|np_\w+|rp_cnp_\w+|out_of_buffer|"
            r"roce_\w+|rx_(?:write|read|atomic)_requests|implied_nak_seq_err|duplicate_request"
        ),
        source="rdma_statistic",
    ),
)
