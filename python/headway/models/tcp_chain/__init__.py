"""Seed 4's Markov chain: the delay of constant-bit-rate media over TCP.

A state is (w, b, l): window in segments, backlog in bytes, loss stage. `TcpChain` finds the
states and delays of one flow on one path, its `solve` gives the delay distribution at a loss
rate. Every ambiguity of the text is a switch of `ChainVariant`, and each result names the
variant that it was computed with. docs/models.md tells the equations and the readings.
"""

from headway.models.tcp_chain.chain import TcpChain, solve
from headway.models.tcp_chain.flow import (
    FLOWS,
    MSS_BYTES,
    PAPER_LOSSES,
    PAPER_RTTS_S,
    CbrFlow,
)
from headway.models.tcp_chain.lattice import Bounds, Timing
from headway.models.tcp_chain.losses import timeout_share_of_window
from headway.models.tcp_chain.region import LIVE, VOIP, Criterion, delay_map, working_region
from headway.models.tcp_chain.remedies import reduction
from headway.models.tcp_chain.result import ChainResult
from headway.models.tcp_chain.trace import Step, trace
from headway.models.tcp_chain.variant import (
    CONSERVING,
    PRINTED,
    VARIANTS,
    WHOLE_PACKETS,
    ChainVariant,
    single_switches,
    variant,
)

__all__ = [
    "CONSERVING",
    "FLOWS",
    "LIVE",
    "MSS_BYTES",
    "PAPER_LOSSES",
    "PAPER_RTTS_S",
    "PRINTED",
    "VARIANTS",
    "VOIP",
    "WHOLE_PACKETS",
    "Bounds",
    "CbrFlow",
    "ChainResult",
    "ChainVariant",
    "Criterion",
    "Step",
    "TcpChain",
    "Timing",
    "delay_map",
    "reduction",
    "single_switches",
    "solve",
    "timeout_share_of_window",
    "trace",
    "variant",
    "working_region",
]
