"""Claims on media over TCP that the chain decides: rates, working region, delays, playout.

Each function takes a variant of the chain and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states. What the chain says is no measurement: where a
claim is about a test bed, the verdict is that of the theory.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from headway.claims.by_model import model_checks
from headway.claims.verdict import Finding, NotTestable
from headway.models.tcp_chain import (
    FLOWS,
    LIVE,
    PAPER_LOSSES,
    PAPER_RTTS_S,
    VOIP,
    Bounds,
    CbrFlow,
    ChainResult,
    ChainVariant,
    TcpChain,
    Timing,
    solve,
    timeout_share_of_window,
    trace,
)

VOICE, VIDEO = FLOWS["voice-20ms"], FLOWS["live-20ms"]
REGIONS = {"VoIP": {0.02: 0.05, 0.1: 0.02}, "video": {0.1: 0.03, 0.3: 0.001}}
"""The working regions that section 6.1 states: the largest loss rate by RTT."""
CUT = 1e-3
"""Where more than this share falls off the end of the state space, figures are too low."""


def ms(seconds: float) -> str:
    """Milliseconds, as the chain's steps of 1/f have them."""
    return f"{1000 * seconds:.0f} ms"


def percent(share: float) -> str:
    """A share in percent, with as many digits as it needs."""
    return f"{100 * share:.3g} %"


def at_losses(losses: Iterable[float], texts: Iterable[str]) -> str:
    """Values by loss rate."""
    return ", ".join(f"{text} at {percent(loss)}" for loss, text in zip(losses, texts, strict=True))


def p95(flow: CbrFlow, rtt_s: float, losses: Iterable[float], variant: ChainVariant) -> list[float]:
    """95th percentiles by loss rate."""
    return [solve(flow, rtt_s, loss, variant).percentile(0.95) for loss in losses]


def highest(rtt_s: float, loss: float, variant: ChainVariant) -> float:
    """The largest delay of five minutes of live video."""
    return _wide(rtt_s, loss, variant).highest_s()


def _wide(rtt_s: float, loss: float, variant: ChainVariant) -> ChainResult:
    return solve(VIDEO, rtt_s, loss, variant, least_backlog_s=LIVE.least_backlog_s)


@model_checks("s4-c01", model="")
def rates_of_the_flows(variant: ChainVariant) -> Finding:  # noqa: ARG001 - arithmetic
    """Media bits of the six flows."""
    found = [flow.media_bps / 1000 for flow in FLOWS.values()]
    expected = (64.0, 42.7, 284.0, 189.3, 573.6, 382.4)
    return Finding(
        all(abs(a - b) < 0.05 for a, b in zip(found, expected, strict=True)),
        ", ".join(f"{name} {rate:.1f}" for name, rate in zip(FLOWS, found, strict=True)) + " kb/s",
        "The paper prints 42, 187 and 378 kb/s for 30 ms: 0.66 of the rates at 20 ms.",
    )


@model_checks("s4-c02")
def voip_at_100_ms(variant: ChainVariant) -> Finding:
    """P95 of VoIP at 2 and 5 %."""
    losses = (0.02, 0.03, 0.05)
    found = p95(VOICE, 0.1, losses, variant)
    return Finding(
        found[0] <= 0.22 and found[2] > 0.2,
        at_losses(losses, map(ms, found)),
        "No independent test: the delays of a loss while application-limited (reading A2) were "
        "chosen knowing this crossing. It is one for the simulator.",
    )


@model_checks("s4-c03")
def voip_at_20_ms(variant: ChainVariant) -> Finding:
    """P95 of VoIP at 5 %."""
    (found,) = p95(VOICE, 0.02, (0.05,), variant)
    slow = solve(VOICE, 0.02, 0.05, variant, timeout_s=0.2).percentile(0.95)
    return Finding(
        found <= 0.22,
        at_losses((0.05,), [ms(found)]),
        f"The time-out decides: T0 is 4 RTT = 80 ms here; with 200 ms P95 is {ms(slow)}.",
    )


@model_checks("s4-c04")
def video_at_100_ms(variant: ChainVariant) -> Finding:
    """Largest delay of live video at 2 and 10 %."""
    losses = (0.02, 0.03, 0.05, 0.1)
    found = [highest(0.1, loss, variant) for loss in losses]
    return Finding(
        found[0] <= 5 and found[-1] > 5,
        at_losses(losses, (f"{delay:.2f} s" for delay in found)),
        "A chain has no largest delay: this is what one packet of five minutes exceeds.",
    )


@model_checks("s4-c05")
def video_at_300_ms(variant: ChainVariant) -> Finding:
    """Largest delay of live video at 0.1 and 0.5 %."""
    losses = (0.001, 0.005)
    found = [highest(0.3, loss, variant) for loss in losses]
    return Finding(
        found[0] <= 5 and found[1] > 3.5, at_losses(losses, (f"{delay:.2f} s" for delay in found))
    )


@model_checks("s4-c06")
def voip_below_video(variant: ChainVariant) -> Finding:
    """P95 of both, from 1 % on at 100 and 300 ms."""
    losses = tuple(loss for loss in PAPER_LOSSES if loss >= 0.01)
    lower = 0
    for rtt in (0.1, 0.3):
        pairs = zip(p95(VOICE, rtt, losses, variant), p95(VIDEO, rtt, losses, variant), strict=True)
        lower += sum(voice < video for voice, video in pairs)
    near = zip(p95(VOICE, 0.02, losses, variant), p95(VIDEO, 0.02, losses, variant), strict=True)
    told = at_losses(losses, (f"{ms(voice)} and {ms(video)}" for voice, video in near))
    return Finding(
        lower == 2 * len(losses),
        f"lower at {lower} of {2 * len(losses)} points with 100 and 300 ms",
        f"At 20 ms a packet is alone in its round trip, so that every loss of VoIP is a time-out: "
        f"VoIP and video have {told}.",
    )


@model_checks("s4-c07")
def half_packets_are_faster(variant: ChainVariant) -> Finding:
    """P95 of video whole and in halves, RTT 100 ms."""
    whole = p95(VIDEO, 0.1, PAPER_LOSSES, variant)
    half = p95(VIDEO.split(2), 0.1, PAPER_LOSSES, variant)
    kept = [
        b < a if loss >= 0.03 else b <= a * (1.05 if loss < 0.01 else 1.0) + 1e-9
        for loss, a, b in zip(PAPER_LOSSES, whole, half, strict=True)
    ]
    return Finding(
        all(kept),
        at_losses(PAPER_LOSSES, (f"{ms(b)} for {ms(a)}" for a, b in zip(whole, half, strict=True))),
    )


def two_losses(variant: ChainVariant) -> tuple[range, list[list[float]], list[list[float]]]:
    """After two losses: peak delays and kept windows over the load, full and half packets."""
    flows = (CbrFlow(1448, Fraction(1, 100)), CbrFlow(724, Fraction(1, 200)))
    apart = range(2, 9)
    peaks: list[list[float]] = []
    windows: list[list[float]] = []
    for flow in flows:
        chain = TcpChain(flow, 0.2, variant)
        if not chain.skeleton.lattice.exact:
            raise NotTestable("the backlog of this variant is not exact, so no path is followed")
        paths = [trace(chain, {0, second}) for second in apart]
        peaks.append([max(step.longest_s for step in path) for path in paths])
        windows.append([path[-1].window / float(chain.timing.r) - 1 for path in paths])
    return apart, peaks, windows


@model_checks("s4-c08")
def peak_after_two_losses(variant: ChainVariant) -> Finding:
    """Peak delays of both flows, over the place of the second loss."""
    apart, (full, half), _ = two_losses(variant)
    ratio = [b / a for a, b in zip(full, half, strict=True)]
    within = sum(0.4 <= value <= 0.7 for value in ratio)
    return Finding(
        2 * within > len(ratio),
        f"{percent(1 - max(ratio))} to {percent(1 - min(ratio))} lower; within 30 to 60 % at "
        f"{within} of {len(ratio)} places",
        f"The place of the second loss is not stated. In the rounds {apart[0] - 1} to "
        f"{apart[-1] - 1} after the recovery of the first, peak delays of "
        + ", ".join(
            f"{full_ms} and {half_ms}"
            for full_ms, half_ms in zip(map(ms, full), map(ms, half), strict=True)
        )
        + ". One path of the chain, no average.",
    )


@model_checks("s4-c09")
def recovery_against_backlog(variant: ChainVariant) -> Finding:
    """Share of the backlog in the delay, 1 to 3 % loss, RTT 100 ms."""
    losses = tuple(loss for loss in PAPER_LOSSES if loss >= 0.01)
    voice, video = (
        [solve(flow, 0.1, loss, variant).backlog_share for loss in losses]
        for flow in (VOICE, VIDEO)
    )
    drawn = sum(loss <= 0.03 for loss in losses)
    both = [f"{percent(a)} and {percent(b)}" for a, b in zip(voice, video, strict=True)]
    return Finding(
        all(share < 0.55 for share in voice[:drawn])
        and all(share > 0.45 for share in video[:drawn]),
        at_losses(losses[:drawn], both[:drawn]),
        f"VoIP and video. Beyond the end of the figure: {at_losses(losses[drawn:], both[drawn:])}.",
    )


@model_checks("s4-c10")
def the_kept_window(variant: ChainVariant) -> Finding:
    """The window after two losses over the load, for both flows."""
    _, _, (full, half) = two_losses(variant)
    return Finding(
        all(0.15 <= over <= 0.55 for over in full + half),
        f"{percent(min(full))} to {percent(max(full))} with full packets, "
        f"{percent(min(half))} to {percent(max(half))} with half ones",
        "The chain coalesces half packets as long as the window is below the load, even without "
        "backlog, so that they never need a larger window; with full packets the window grows by "
        "one segment a round trip until the backlog is gone.",
    )


@model_checks("s4-c12")
def timeouts_are_rare(variant: ChainVariant) -> Finding:
    """Time-outs for each loss: a window of 4 with limited transmit against 3 without."""
    plain = variant.with_(limited_transmit=False)
    losses = (0.01, 0.03, 0.1)
    ours = [timeout_share_of_window(variant, loss, 4) for loss in losses]
    theirs = [timeout_share_of_window(plain, loss, 3) for loss in losses]
    alone = [timeout_share_of_window(plain, loss, 4) for loss in losses]
    return Finding(
        all(b >= 1.2 * a for a, b in zip(ours, theirs, strict=True)),
        at_losses(
            losses, (f"{percent(a)} for {percent(b)}" for a, b in zip(ours, theirs, strict=True))
        ),
        "A window of 3.9 counts as 4. Three segments without limited transmit bring two duplicate "
        f"ACKs at most, hence always a time-out. With the window of 4 alone: "
        f"{at_losses(losses, map(percent, alone))}.",
    )


def late(flow: CbrFlow, rtt_s: float, loss: float, variant: ChainVariant) -> float:
    """Share later than L + RTT + 3/f."""
    wide = flow == VIDEO
    result = _wide(rtt_s, loss, variant) if wide else solve(flow, rtt_s, loss, variant)
    return result.late_fraction(1.5 * rtt_s + 3 * float(flow.interval_s))


@model_checks("s4-c33")
def playout_for_voip(variant: ChainVariant) -> Finding:
    """Late share of VoIP at 20 and 100 ms up to 2 %."""
    losses = tuple(loss for loss in PAPER_LOSSES if loss <= 0.02)
    found = {rtt: [late(VOICE, rtt, loss, variant) for loss in losses] for rtt in (0.02, 0.1)}
    return Finding(
        all(share <= 0.06 for shares in found.values() for share in shares),
        "; ".join(
            f"RTT {ms(rtt)}: {at_losses(losses, map(percent, shares))}"
            for rtt, shares in found.items()
        ),
    )


@model_checks("s4-c34")
def sensitivity_to_playout(variant: ChainVariant) -> Finding:
    """Playout delay from 5 to 1 % late by RTT, and VoIP beside video."""
    told: list[str] = []
    falls = needs_less = True
    for loss in (0.005, 0.01, 0.02):
        late_by: dict[str, list[ChainResult]] = {}
        for name, flow in (("VoIP", VOICE), ("video", VIDEO)):
            results = [solve(flow, rtt, loss, variant) for rtt in PAPER_RTTS_S]
            late_by[name] = [result for result in results if result.cut_share <= CUT]
            more = [at.percentile(0.99) - at.percentile(0.95) for at in late_by[name]]
            falls &= all(near < far for near, far in pairwise(more))
            told.append(f"{name} at {percent(loss)}: {', '.join(map(ms, more))}")
        # At 20 ms a loss of VoIP is a time-out.
        for voice, video in zip(late_by["VoIP"][1:], late_by["video"][1:], strict=False):
            needs_less &= all(
                voice.percentile(q) <= video.percentile(q) + 1e-9 for q in (0.95, 0.98, 0.99)
            )
    return Finding(
        falls and needs_less,
        ("from 5 to 1 % late takes longer at a larger RTT" if falls else "no order by RTT")
        + "; VoIP needs "
        + ("no more than video" if needs_less else "more than video somewhere"),
        f"Added playout delay from 5 to 1 % late at 20, 100 and 300 ms: {'; '.join(told)}. VoIP is "
        "held beside video at 100 and 300 ms. Points where the state space is too small for "
        "video are left out.",
    )


@model_checks("s4-c35")
def playout_covers_voip(variant: ChainVariant) -> Finding:
    """Late shares inside the two working regions, on the paper's grid."""
    flows = {"VoIP": VOICE, "video": VIDEO}
    stated = {
        name: [
            (late(flow, rtt, loss, variant), rtt, loss)
            for rtt, most in REGIONS[name].items()
            for loss in PAPER_LOSSES
            if loss <= most
        ]
        for name, flow in flows.items()
    }
    own = [
        (late(VOICE, rtt, loss, variant), rtt, loss)
        for rtt in PAPER_RTTS_S
        for loss in PAPER_LOSSES
        if solve(VOICE, rtt, loss, variant).percentile(0.95) <= VOIP.limit_s + 1e-9
    ]
    worst, worst_own = max(stated["VoIP"]), max(own)
    over = [point for point in stated["video"] if point[0] > 0.05]
    return Finding(
        worst[0] <= 0.05 and bool(over),
        f"VoIP at most {percent(worst[0])} late at {len(stated['VoIP'])} points; video above 5 % "
        f"at {len(over)} of {len(stated['video'])}",
        "Inside the regions that section 6.1 states: VoIP up to 5 % loss at 20 ms and 2 % at "
        "100 ms, video up to 3 % at 100 ms and 0.1 % at 300 ms. In the region of VoIP by this "
        f"chain, {len(own)} points, {sum(share > 0.05 for share, _, _ in own)} are above 5 %; the "
        f"worst has {percent(worst_own[0])} at {ms(worst_own[1])} and {percent(worst_own[2])} "
        "loss. Video: "
        + "; ".join(f"{percent(a)} at {ms(rtt)}, {percent(loss)}" for a, rtt, loss in over)
        + ".",
    )


@model_checks("s4-c46")
def rows_and_packets(variant: ChainVariant) -> Finding:
    """Row sums, balance of bytes and carried rate over the paper's grid."""
    worst_row = worst_balance = worst_rate = 0.0
    points = held = 0
    for flow in FLOWS.values():
        for rtt in PAPER_RTTS_S:
            chain = TcpChain(flow, rtt, variant)
            for loss in PAPER_LOSSES:
                result = chain.solve(loss)
                rate = float(flow.rate)
                points += 1
                worst_row = max(worst_row, result.row_error)
                worst_balance = max(worst_balance, result.balance_error)
                if result.cut_share <= CUT:
                    held += 1
                    worst_rate = max(worst_rate, abs(result.carried_rate / rate - 1))
    return Finding(
        worst_row < 1e-9 and worst_rate <= 0.005,
        f"row sums within {worst_row:.0e}, carried rate within {percent(worst_rate)} of f",
        f"{points} points; the carried rate at the {held} where at most {percent(CUT)} of the "
        f"packets fall off the end of the state space. Bytes balance within {worst_balance:.0e} "
        "at every point, with what falls off.",
    )


@model_checks("s4-c47")
def state_space(variant: ChainVariant) -> Finding:  # noqa: ARG001 - the same for all
    """Bounds of the state space for every flow and RTT of the paper."""
    right = True
    told = []
    for name, flow in FLOWS.items():
        for rtt in PAPER_RTTS_S:
            timing = Timing.of(flow, rtt)
            bounds = Bounds.paper(timing)
            packets = int(bounds.b_max / Fraction(flow.packet_bytes))
            counted = 6 * packets + 2 * packets * bounds.w_max
            right &= (
                timing.timeout_s == 4 * timing.rtt_s
                and bounds.w_max == int(-(-8 * timing.r // 1))
                and bounds.b_max == 16 * timing.r * Fraction(flow.packet_bytes)
                and bounds.paper_states(timing) == counted
            )
            if rtt == 0.1 and name in ("voice-20ms", "live-20ms"):
                told.append(f"{name} at 100 ms: {bounds.paper_states(timing)} states")
    return Finding(right, "; ".join(told), "w_max = 8 r, b_max = 16 r packets, T0 = 4 RTT.")
