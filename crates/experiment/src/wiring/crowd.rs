//! What is left of all flows of a shared path at the end of a run.

use headway_apps::web::WebSeen;
use headway_path::LinkCounters;
use headway_sansio::{Duration, Time};

use super::carrier::{Counters, StreamFigures};
use super::delays::DelayLog;
use super::gauge::Gauge;
use super::meters::Meter;
use super::pair::Ended;
use crate::attribution::Totals;
use crate::results::{FlowKind, FlowSample, MessageSample, Metric, WindowSample};

/// One flow under study that has run to its end.
pub(super) struct FlowEnded<A, B> {
    pub(super) caller: A,
    pub(super) answerer: B,
    /// What the messages add up to, from the caller's side and to it.
    pub(super) totals: [Totals; 2],
    /// Messages of which a first transmission was lost.
    pub(super) lost: Vec<u64>,
    pub(super) counters: Counters,
    /// What only byte streams have, of the caller's side and the answerer's.
    pub(super) figures: [StreamFigures; 2],
    /// The congestion window of the caller's side.
    pub(super) cwnd: Gauge,
    /// Bytes that wait because of HOLB, at both ends.
    pub(super) held: [Gauge; 2],
    pub(super) delays: Option<Box<DelayLog>>,
    /// What the path did to its packets, each way.
    pub(super) meters: [Meter; 2],
    /// Rows of messages, where they were asked for.
    pub(super) messages: Vec<MessageSample>,
    /// Congestion windows over time, where they were asked for.
    pub(super) windows: Vec<WindowSample>,
}

/// Everything that was on the path, at the end.
pub(super) struct Crowd<A, B> {
    pub(super) flows: Vec<FlowEnded<A, B>>,
    /// Everything handed over was delivered or lost for good, and all
    /// applications under study are done.
    pub(super) complete: bool,
    /// A transport under study gave up.
    pub(super) dead: bool,
    /// What was offered to the path each way, and lost there, by all together
    /// while the flows under study ran.
    pub(super) links: [LinkCounters; 2],
    /// What competed, where anything could.
    pub(super) background: Option<Background>,
    /// All flows as the path saw them, where they were asked for.
    pub(super) samples: Vec<FlowSample>,
    pub(super) end: Time,
    pub(super) events: u64,
}

/// What the competing traffic got while the flows under study ran.
pub(super) struct Background {
    /// Bytes that each bulk transfer delivered in order, in bits per second.
    pub(super) bulk_goodput_bps: Vec<f64>,
    /// Of all competing packets, in the direction of their data.
    pub(super) data: Meter,
    /// The other way.
    pub(super) acks: Meter,
    pub(super) web: Option<WebSeen>,
}

/// What flows on a shared path have beside what a pair of its own has.
pub(super) struct Shared {
    pub(super) background: Option<Background>,
    /// What the path did to the packets under study, each way.
    pub(super) meters: [Meter; 2],
    /// Sums over the flows; the MSS is that of the first one.
    pub(super) figures: [StreamFigures; 2],
    pub(super) delays: Option<DelayLog>,
}

/// Totals at one moment.
pub(super) struct Seen {
    pub(super) links: [LinkCounters; 2],
    /// Bytes that the receiver of each competing pair has read.
    pub(super) read: Vec<u64>,
    pub(super) web: Option<WebSeen>,
}

impl Background {
    pub(super) fn of(
        reversed: &[bool],
        bulk: &[usize],
        meters: &[[Meter; 2]],
        [before, after]: [&Seen; 2],
        elapsed: Duration,
    ) -> Self {
        let seconds = elapsed.as_secs_f64();
        let goodput = |&pair: &usize| {
            let bytes = after.read[pair] - before.read[pair];
            bytes as f64 * 8.0 / seconds
        };
        let (mut data, mut acks) = (Meter::default(), Meter::default());
        for (meters, &reverse) in meters.iter().zip(reversed) {
            data = data.plus(meters[usize::from(reverse)]);
            acks = acks.plus(meters[usize::from(!reverse)]);
        }
        Self {
            bulk_goodput_bps: bulk.iter().map(goodput).collect(),
            data,
            acks,
            web: after.web.zip(before.web).map(|(after, before)| WebSeen {
                sessions: after.sessions - before.sessions,
                pages: after.pages - before.pages,
                page_nanos: after.page_nanos - before.page_nanos,
                abandoned: after.abandoned - before.abandoned,
            }),
        }
    }
}

impl<A, B> Crowd<A, B> {
    /// All flows as one: sums of what they count, the levels of the first one.
    pub(super) fn into_ended(self) -> Ended<Vec<A>, Vec<B>> {
        let mut all = Ended {
            caller: Vec::new(),
            answerer: Vec::new(),
            complete: self.complete,
            dead: self.dead,
            links: self.links,
            totals: [Totals::default(); 2],
            lost: Vec::new(),
            counters: Counters::default(),
            cwnd: self.flows.first().map_or_else(Gauge::default, |f| f.cwnd),
            held: self.flows.first().map_or_else(Default::default, |f| f.held),
            radio: None,
            shared: None,
            end: self.end,
            events: self.events,
            messages: Vec::new(),
            windows: Vec::new(),
            flows: self.samples,
        };
        let mut shared = Shared {
            background: self.background,
            meters: [Meter::default(); 2],
            figures: [StreamFigures::default(); 2],
            delays: None,
        };
        for flow in self.flows {
            all.caller.push(flow.caller);
            all.answerer.push(flow.answerer);
            all.lost.extend(flow.lost);
            all.counters = all.counters.plus(flow.counters);
            all.messages.extend(flow.messages);
            all.windows.extend(flow.windows);
            for way in 0..2 {
                all.totals[way].merge(&flow.totals[way]);
                shared.meters[way] = shared.meters[way].plus(flow.meters[way]);
                shared.figures[way] = shared.figures[way].plus(flow.figures[way]);
            }
            match (&mut shared.delays, flow.delays) {
                (Some(sum), Some(log)) => sum.merge(&log),
                (sum, log) => *sum = log.map(|log| *log),
            }
        }
        all.messages.sort_by_key(|m| (m.row.handed_over, m.row.id));
        all.shared = Some(shared);
        all
    }

    /// The first flow's applications with what all flows add up to: for runs
    /// with one flow.
    pub(super) fn into_pair(self) -> Ended<A, B> {
        let all = self.into_ended();
        let mut pairs = all.caller.into_iter().zip(all.answerer);
        let (caller, answerer) = pairs.next().expect("a run has a flow under study");
        Ended {
            caller,
            answerer,
            complete: all.complete,
            dead: all.dead,
            links: all.links,
            totals: all.totals,
            lost: all.lost,
            counters: all.counters,
            cwnd: all.cwnd,
            held: all.held,
            radio: all.radio,
            shared: all.shared,
            end: all.end,
            events: all.events,
            messages: all.messages,
            windows: all.windows,
            flows: all.flows,
        }
    }
}

/// What the path did to the flows under study, and what competed; nothing on a
/// path that nobody shares.
pub(super) fn shared_metrics(shared: Option<&Shared>) -> Vec<Metric> {
    let Some(shared) = shared else {
        return Vec::new();
    };
    let [there, back] = &shared.meters;
    let mut metrics = vec![
        Metric::real("flow_loss_share", there.loss()),
        Metric::maybe("flow_rtt_mean_s", round_trip(there, back)),
    ];
    let Some(background) = &shared.background else {
        return metrics;
    };
    let goodput = &background.bulk_goodput_bps;
    let sum: f64 = goodput.iter().sum();
    let squares: f64 = goodput.iter().map(|x| x * x).sum();
    let web = background.web.unwrap_or_default();
    let some = background.web.is_some();
    metrics.extend([
        Metric::real("bulk_goodput_bps", sum),
        // Jain, Chiu, Hawe 1984: 1 where all get the same.
        Metric::real("bulk_jain", sum * sum / (goodput.len() as f64 * squares)),
        Metric::real("background_loss_share", background.data.loss()),
        Metric::maybe(
            "background_rtt_mean_s",
            round_trip(&background.data, &background.acks),
        ),
        Metric::count("web_sessions", web.sessions),
        Metric::count("web_pages", web.pages),
        Metric::maybe(
            "web_page_mean_s",
            some.then(|| web.page_nanos as f64 / 1e9 / web.pages as f64),
        ),
    ]);
    metrics
}

/// A row for each flow: `studied` of them under study, then those that compete,
/// by kind and whether their data go in reverse.
pub(super) fn flow_samples(
    studied: usize,
    rivals: impl Iterator<Item = (FlowKind, bool)>,
    meters: &[[Meter; 2]],
    [before, after]: [&Seen; 2],
    elapsed: Duration,
) -> Vec<FlowSample> {
    let study = (0..studied).map(|_| (FlowKind::Study, false));
    let mut samples: Vec<FlowSample> = Vec::new();
    for ((kind, reverse), meters) in study.chain(rivals).zip(meters) {
        let (data, acks) = (meters[usize::from(reverse)], meters[usize::from(!reverse)]);
        let round_trip = data.mean_transit().zip(acks.mean_transit());
        let reads = matches!(kind, FlowKind::Bulk | FlowKind::Messages);
        let goodput = samples.len().checked_sub(studied).filter(|_| reads);
        samples.push(FlowSample {
            flow: samples.iter().filter(|s| s.kind == kind).count() as u32,
            kind,
            forward: !reverse,
            packets: data.offered,
            packets_lost: data.lost,
            round_trip: round_trip.map(|(there, back)| there + back),
            goodput_bps: goodput.map(|rival| {
                let bytes = after.read[rival] - before.read[rival];
                bytes as f64 * 8.0 / elapsed.as_secs_f64()
            }),
        });
    }
    samples
}

/// Mean round-trip time from both ways.
fn round_trip(there: &Meter, back: &Meter) -> Option<f64> {
    let sum = there.mean_transit()? + back.mean_transit()?;
    Some(sum.as_secs_f64())
}

/// What a link counted in between; greatest levels are those of the whole run.
pub(super) fn difference(after: &LinkCounters, before: &LinkCounters) -> LinkCounters {
    LinkCounters {
        packets_offered: after.packets_offered - before.packets_offered,
        bytes_offered: after.bytes_offered - before.bytes_offered,
        packets_delivered: after.packets_delivered - before.packets_delivered,
        bytes_delivered: after.bytes_delivered - before.bytes_delivered,
        packets_lost_wire: after.packets_lost_wire - before.packets_lost_wire,
        packets_lost_queue: after.packets_lost_queue - before.packets_lost_queue,
        packets_duplicated: after.packets_duplicated - before.packets_duplicated,
        packets_held_back: after.packets_held_back - before.packets_held_back,
        queue_max_pkts: after.queue_max_pkts,
        queue_max_bytes: after.queue_max_bytes,
    }
}
