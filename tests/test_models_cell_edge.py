"""The channel of the radio studies: its estimate, and the simulator against its closed form."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from headway import core
from headway.models.cell_edge import FRAME_BYTES, Channel, estimate, frame_error
from headway.study import locate

GAUSSIAN = Channel("gaussian", 8.56, 1.61)


def test_frame_errors_are_those_of_the_literature() -> None:
    # SNR at 10, 50 and 90 % loss of 932 B at 1 Mb/s, by an independent quadrature.
    for snr, loss in ((-3.223, 0.1), (-4.084, 0.5), (-4.738, 0.9)):
        assert float(frame_error(snr, 932)) == pytest.approx(loss, abs=0.002)


def test_shares_are_geometric_where_tries_are_independent() -> None:
    lost = GAUSSIAN.try_loss(5.0)
    assert GAUSSIAN.shares(5.0, 0)[:3] == pytest.approx([(1 - lost) * lost**t for t in range(3)])
    assert GAUSSIAN.first(5.0, 2, of_all=True) == pytest.approx(1 - lost**3)
    # Drawn for each packet, retries meet the SNR that the first try met.
    shared = Channel("gaussian", 8.56, 1.61, "message")
    assert shared.first(5.0, 0) == pytest.approx(GAUSSIAN.first(5.0, 0))
    assert shared.first(5.0, 8) < GAUSSIAN.first(5.0, 2)


def test_the_floor_among_successes_is_one_in_eleven() -> None:
    assert GAUSSIAN.first(-8.0, 0) == pytest.approx(1 / 11, abs=0.002)
    assert GAUSSIAN.first(-8.0, 0, of_all=True) < 0.001


def test_the_studies_hold_what_the_estimate_gives() -> None:
    channel = estimate("gaussian").channel
    assert (channel.offset_db, channel.width_db) == (8.56, 1.61)
    for name in ("unloaded", "loaded", "symmetric", "handoff", "retry-limit", "mechanisms"):
        study = tomllib.loads(Path(locate(f"sip-wifi-{name}")).read_text(encoding="utf-8"))
        path = study["scenario"]["path"]
        assert path["errors"] == {"kind": "textbook", "offset": "8.56 dB"}, name
        assert path["jitter"] == {"sigma": "1.61 dB", "per": "try"}, name


def test_the_table_of_fades_is_that_of_the_estimate() -> None:
    channel = estimate("fades").channel
    study = tomllib.loads(Path(locate("sip-wifi-fading")).read_text(encoding="utf-8"))
    levels = {level["label"]: level["set"] for level in study["factor"][0]["levels"]}
    points = levels["fades, each try"]["path.errors"]["points"]
    assert levels["fades, each try"]["path.errors"]["frame"] == f"{FRAME_BYTES} B"
    for snr, loss in points[:-1]:
        assert loss == pytest.approx(channel.try_loss(snr), rel=1e-3), snr


@pytest.mark.parametrize(
    ("per", "limit", "snr"), [("try", 0, 5.0), ("try", 2, 4.0), ("message", 2, 5.0)]
)
def test_the_simulator_meets_the_closed_form(per: str, limit: int, snr: float) -> None:
    number = 3000
    spec = {
        "version": 1,
        "run": {"id": "edge", "point": 0, "replication": 0},
        "seed": "00000000000007d5",
        "duration_ns": 10**15,
        "workload": {"kind": "sip-transactions", "transactions": number},
        "transport": {"kind": "udp"},
        "path": {
            "kind": "dot11",
            "snr_db": snr,
            "retry_limit": limit,
            "errors": {"kind": "textbook", "offset_db": 8.56},
            "jitter": {"sigma_db": 1.61, "per": per},
        },
    }
    table = core.run([json.dumps(spec)])["runs"]
    row = pl.read_ipc_stream(io.BytesIO(table)).row(0, named=True)
    shares = Channel("gaussian", 8.56, 1.61, per).shares(snr, limit)
    for t in (1, 2, 3):
        found, expected = row[f"f{t}_of_all_share"], shares[t - 1]
        error = np.sqrt(expected * (1 - expected) / number)
        # The few uplink frames that SIP repeats for want of a 100 shift nothing of this size.
        assert abs(found - expected) < 4 * error, (t, found, expected)
