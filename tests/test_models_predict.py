"""The front of the models: registry, tables, curves beside studies."""

from __future__ import annotations

import polars as pl
import pytest

from headway.models import MODELS, ModelError, catalogue, curve_for, get, predict
from headway.models.curves import match_for, model_for
from headway.models.holb import Signalling
from headway.models.tcp_chain import FLOWS, solve

SIP = {
    "workload": {"kind": "sip", "flow": "invite-ringing", "call_rate": 40},
    "transport": {"kind": "sctp", "profile": "lksctp-2.6.11"},
    "path": {"one_way_delay": "20 ms", "rate": "unlimited", "loss": {"rate": "2 %"}},
}
MEDIA = {
    "workload": {"kind": "media", "packet_bytes": 174, "interval_ns": 20_000_000},
    "transport": {"kind": "tcp"},
    "path": {"one_way_delay_ns": 50_000_000, "loss": {"kind": "bernoulli", "rate": 0.02}},
}


def test_every_model_tells_what_it_is() -> None:
    assert set(MODELS) == {"tcp-chain", "holb", "media-recovery", "simco", "padhye"}
    table = catalogue()
    assert table["model"].to_list() == list(MODELS)
    for model in MODELS.values():
        assert model.source and model.validity and model.title
        names = [one.name for one in model.inputs]
        assert len(set(names)) == len(names) and all(one.text for one in model.inputs)


@pytest.mark.parametrize("name", MODELS)
def test_every_declared_output_is_there_and_no_other(name: str) -> None:
    settings = {"loss": 0.01, "rtt_s": 0.1, "rate": 40}
    known = {one.name for one in get(name).inputs}
    frame = predict(name, **{key: value for key, value in settings.items() if key in known})
    outputs = [one.name for one in get(name).outputs]
    assert frame.height == 1 and frame["inside"][0] is True and frame["why"][0] == ""
    extra = set(frame.columns) - {"model"} - known - {"flow"}
    assert extra == set(outputs)


def test_lists_make_a_grid_and_text_is_read_with_its_unit() -> None:
    frame = predict("holb", rate=40, rtt_s=["40 ms", 0.12], loss=["1 %", "0.02", 0.03])
    assert frame["rtt_s"].to_list() == [0.04] * 3 + [0.12] * 3
    assert frame["loss"].to_list() == [0.01, 0.02, 0.03] * 2
    expected = Signalling(40, 0.02, 0.12).delay.psd_quantile_s(0.95)
    assert frame["psd_p95_s"][4] == expected


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    predict("simco", loss=[0.01, 0.02], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_chain_switches_and_flows_by_name() -> None:
    frame = predict(
        "tcp-chain", flow="live-20ms", rtt_s="100 ms", loss=0.02, limited_transmit=["on", False]
    )
    assert frame["computed_variant"].to_list() == ["conserving", "conserving, limited_transmit=off"]
    assert frame["delay_mean_s"][0] == pytest.approx(
        solve(FLOWS["live-20ms"], 0.1, 0.02).mean_s, rel=1e-9
    )
    # Bulk TCP would carry less than twice 573 kb/s at 2 %.
    assert not frame["inside"][0] and "twice" in frame["why"][0]
    two = predict("tcp-chain", flow="live-20ms", rtt_s=0.1, loss=0.01, connections=[1, 2], pieces=2)
    assert two["delay_p95_s"][0] != two["delay_p95_s"][1]


@pytest.mark.parametrize(
    ("model", "settings", "said"),
    [
        ("holbs", {}, 'did you mean "holb"'),
        ("holb", {"rat": 40}, 'did you mean "rate"'),
        ("holb", {"loss": 0.01}, "needs rate"),
        ("holb", {"rate": 40, "rtt_s": "40 parsecs", "loss": 0.01}, "unknown unit"),
        ("holb", {"rate": 40, "rtt_s": "soon", "loss": 0.01}, "is not a duration"),
        ("holb", {"rate": 40, "rtt_s": 0.04, "loss": 1.7}, "loss rate"),
        ("holb", {"rate": 40, "rtt_s": 0.04, "loss": []}, "empty list"),
        ("holb", {"rate": 40, "rtt_s": 0.04, "loss": 0.1, "delivery": "any"}, "none of ordered"),
        ("tcp-chain", {"rtt_s": 0.1, "loss": 0.1, "limited_transmit": "maybe"}, "none of on, off"),
        ("padhye", {"rtt_s": 0.1, "loss": True}, "not a number"),
    ],
)
def test_mistakes_are_told_in_one_sentence(model: str, settings: dict, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        predict(model, **settings)


def test_a_study_of_sip_gets_the_blocking_model() -> None:
    points = pl.DataFrame(
        {
            "path.loss.rate": [0.01, 0.06],
            "path.one_way_delay": [0.02, 0.06],
            "transport.delivery": ["unordered", "ordered"],
            "psd_p95_s.mean": [0.1, 0.2],
        }
    )
    curve = curve_for(SIP, "psd_p95_s", points)
    assert curve.columns[: points.width] == points.columns
    assert curve["value"][0] == pytest.approx(0.04)
    # The stack's own knobs: four reports, repeated.
    expected = Signalling(40, 0.06, 0.12, "ordered", reports=4, repeat=True).delay
    assert curve["value"][1] == pytest.approx(expected.psd_quantile_s(0.95))
    assert curve["inside"].to_list() == [True, False]
    assert "loss above 5" in curve["why"][1]
    assert curve["validity"][0] == get("holb").validity


def test_knobs_over_the_profile_reach_the_model() -> None:
    scenario = SIP | {
        "transport": {
            "kind": "sctp",
            "profile": "lksctp-2.6.11",
            "sctp": {"missing_report_threshold": 3, "rto_min_ns": 200_000_000},
        }
    }
    found = curve_for(scenario, "psd_mean_s")["value"][0]
    expected = Signalling(40, 0.02, 0.04, reports=3, repeat=True, rto_s=0.2).delay.psd_mean_s
    assert found == pytest.approx(expected)


def test_what_the_model_leaves_aside_is_said() -> None:
    path = {
        "one_way_delay": "20 ms",
        "rate": "1 Mb/s",
        "loss": {"kind": "bernoulli", "rate": 0.01, "correlation": 0.8},
        "queue": {"kind": "drop-tail-packets", "limit_pkts": 10},
    }
    curve = curve_for(SIP | {"path": path}, "psd_mean_s")
    assert not curve["inside"][0]
    for aside in ("correlated losses", "limited rate", "queue"):
        assert f"leaves {aside} aside" in curve["why"][0]


def test_a_study_of_media_gets_the_chain() -> None:
    curve = curve_for(MEDIA, "delay_p95_s")
    assert curve["model"][0] == "tcp-chain" and round(curve["value"][0], 3) == 0.170
    assert curve["inside"][0]
    both = {"kind": "tcp-parallel", "connections": 2}
    parallel = curve_for(MEDIA | {"transport": both}, "delay_mean_s")
    assert "re-sequencing" in parallel["why"][0]


def test_a_study_of_simco_gets_seed_2() -> None:
    scenario = {
        "workload": {
            "kind": "simco",
            "request_rate": 1 / 0.03,
            "lifetime": "180 s",
            "refresh": "2 min",
        },
        "transport": {"kind": "sctp", "delivery": "streams", "streams": 2},
        "path": {"one_way_delay": "10 ms", "loss": {"rate": "1 %"}},
    }
    assert model_for(scenario) == "simco"
    assert curve_for(scenario, "response_mean_s")["value"][0] * 1000 == pytest.approx(
        22.34, abs=0.005
    )


@pytest.mark.parametrize(
    ("change", "metric", "said"),
    [
        ({"workload": {"kind": "page"}}, "psd_p95_s", "no model for the workload"),
        ({"transport": {"kind": "udp"}}, "psd_p95_s", 'over "udp"'),
        ({"path": {"loss": {"rate": 0.1}}}, "psd_p95_s", "no path.one_way_delay"),
        (
            {"path": {"one_way_delay": "20 ms", "loss": {"kind": "gilbert-elliott"}}},
            "psd_p95_s",
            "independent losses only",
        ),
        ({}, "cwnd_mean_bytes", "does not know"),
    ],
)
def test_scenarios_without_a_model_are_refused(change: dict, metric: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        curve_for(SIP | change, metric)


def media(transport: dict[str, object], **workload: object) -> dict[str, object]:
    """A RunSpec's body as the engine reads it: seed 4's live video."""
    return {
        "workload": {
            "kind": "media", "payload_bytes": 1434, "header_bytes": 12,
            "interval_ns": 20_000_000, **workload,
        },
        "transport": transport,
        "path": {"one_way_delay_ns": 50_000_000, "loss": {"kind": "bernoulli", "rate": 0.02}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("transport", "pieces", "connections", "aside"),
    [
        ({"kind": "tcp"}, 1, 1, ()),
        ({"kind": "tcp-split"}, 2, 1, ("pieces sent at once",)),
        ({"kind": "tcp-split", "pieces": 4, "piece_gap_ns": 5_000_000}, 4, 1, ()),
        ({"kind": "tcp-parallel"}, 1, 5, ("re-sequencing over connections",)),
        ({"kind": "tcp", "out_of_order": True}, 1, 1, ("delivery out of order",)),
    ],
)
def test_media_as_a_run_spec_spells_it(
    transport: dict[str, object], pieces: int, connections: int, aside: tuple[str, ...]
) -> None:
    found = match_for(media(transport))
    # Payload, RTP header and the two bytes of framing that TCP adds.
    assert found.settings["packet_bytes"] == 1448
    assert (found.settings["pieces"], found.settings["connections"]) == (pieces, connections)
    assert found.aside == aside
    flow = FLOWS["live-20ms"].split(pieces).over_connections(connections)
    expected = solve(flow, 0.1, 0.02)
    assert found.evaluate()["delay_p95_s"] == expected.percentile(0.95)
    assert found.columns["timeout_share"] == "timeouts_per_loss"


def test_what_media_models_leave_aside_is_named() -> None:
    assert match_for(media({"kind": "tcp"}, silence={})).aside == ("pauses",)
    rivals = media({"kind": "tcp"}) | {"competing": {"bulk": {"flows": 5}}}
    assert match_for(rivals).aside == ("competing traffic",)
    chosen = match_for(media({"kind": "tcp-parallel", "schedule": "shortest-queue"}))
    assert "the choice of a connection" in chosen.aside
    resequenced = match_for(media({"kind": "tcp-parallel"}), model="media-recovery")
    assert resequenced.aside == () and resequenced.settings["resequenced"] is True
    knobs = {"growth_counting": "bytes", "ack_policy": "immediate", "nagle": "off"}
    counted = match_for(media({"kind": "tcp", "tcp": knobs}))
    assert counted.aside == ("a window that grows by bytes or segments",)
    with pytest.raises(ModelError, match='over "udp"'):
        match_for(media({"kind": "udp"}))
