"""Fine maps of the chain: conserved at every point. Slow."""

from __future__ import annotations

import numpy as np
import pytest

from headway.models.tcp_chain import FLOWS, TcpChain, delay_map

LOSSES = [float(loss) for loss in np.geomspace(0.001, 0.1, 50)]
RTTS_S = [float(rtt) for rtt in np.linspace(0.02, 0.3, 50)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["voice-20ms", "live-20ms"])
def test_a_fine_map_carries_packets_as_they_are_made(name: str) -> None:
    seen: list[tuple[int, int]] = []
    found = delay_map(
        {name: FLOWS[name]}, LOSSES, RTTS_S, progress=lambda done, total: seen.append((done, total))
    )
    assert found.height == 2500 and seen[-1] == (2500, 2500) and len(seen) == 50
    # Packets are carried as they are made, but for those that overflow the state space.
    kept = 50 * (1 - found["cut_share"].to_numpy())
    assert found["carried_rate"].to_numpy() == pytest.approx(kept, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FLOWS))
def test_rows_and_bytes_over_a_denser_grid(name: str) -> None:
    rate = float(FLOWS[name].rate)
    for rtt in RTTS_S[::7]:
        chain = TcpChain(FLOWS[name], rtt)
        for loss in LOSSES[::5]:
            result = chain.solve(loss)
            at = f"{name} {rtt} {loss}"
            assert result.row_error < 1e-12 and result.balance_error < 1e-12, at
            assert result.carried_rate + result.cut_rate == pytest.approx(rate, rel=1e-12), at
