//! What a user agent prints at its end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use headway_apps::sip::ua::LayerCounters;
use serde_json::{Map, Value, json};

use super::delays::Delays;
use super::totals::{AnswerTotals, CallTotals};
use super::traffic::Traffic;

/// Everything that was counted, for people and as JSON.
#[derive(Debug)]
pub(super) struct Report {
    heading: String,
    counts: Vec<(&'static str, &'static str, u64)>,
    refused: BTreeMap<u16, u64>,
    delays: Vec<(&'static str, &'static str, Delays)>,
    messages: Map<String, Value>,
    duration_s: f64,
}

/// Where and how long an agent ran.
pub(super) struct Setting {
    pub(super) agent: &'static str,
    pub(super) transport: &'static str,
    pub(super) local: String,
    /// Whom it called.
    pub(super) target: Option<String>,
    pub(super) duration_s: f64,
}

impl Report {
    /// The caller's side.
    pub(super) fn of_calls(
        setting: &Setting,
        totals: CallTotals,
        traffic: &Traffic,
        layer: LayerCounters,
    ) -> Self {
        let refused = totals.refused.values().sum();
        let counts = vec![
            ("calls", "calls", totals.calls),
            ("finished", "carried through", totals.finished),
            ("failed", "failed", totals.failed),
            (
                "failed_no_response",
                "  no response to INVITE",
                totals.no_response,
            ),
            ("failed_no_answer", "  rang too long", totals.no_answer),
            (
                "failed_no_reply_to_bye",
                "  no response to BYE",
                totals.no_reply_to_bye,
            ),
            ("failed_refused", "  refused", refused),
            ("failed_not_sent", "  could not be sent", totals.not_sent),
            ("open", "open at the end", totals.open),
        ];
        let delays = vec![
            ("psd", "post-selection delay", totals.psd),
            ("transaction", "transaction delay", totals.transaction),
        ];
        Self::new(setting, counts, totals.refused, delays, traffic, layer)
    }

    /// The answerer's side.
    pub(super) fn of_answers(
        setting: &Setting,
        totals: AnswerTotals,
        traffic: &Traffic,
        layer: LayerCounters,
    ) -> Self {
        let counts = vec![
            ("calls", "calls", totals.calls),
            ("answered", "answered", totals.answered),
            ("acknowledged", "acknowledged", totals.acknowledged),
            ("ended", "ended by the caller", totals.ended),
            ("failed_no_ack", "no ACK in time", totals.no_ack),
        ];
        let delays = vec![("ack", "200 to ACK", totals.ack)];
        Self::new(setting, counts, BTreeMap::new(), delays, traffic, layer)
    }

    fn new(
        setting: &Setting,
        mut counts: Vec<(&'static str, &'static str, u64)>,
        refused: BTreeMap<u16, u64>,
        delays: Vec<(&'static str, &'static str, Delays)>,
        traffic: &Traffic,
        layer: LayerCounters,
    ) -> Self {
        let again = |of: fn(&super::traffic::Counts) -> u64| traffic.kinds().values().map(of).sum();
        counts.extend([
            (
                "sent_again",
                "messages sent again",
                again(|counts| counts.sent_again),
            ),
            (
                "received_again",
                "messages received again",
                again(|counts| counts.received_again),
            ),
            (
                "unreadable",
                "messages that were no SIP",
                traffic.unreadable(),
            ),
            (
                "stray_responses",
                "responses to nothing",
                layer.stray_responses,
            ),
        ]);
        let messages = traffic.kinds().iter();
        let heading = match &setting.target {
            Some(target) => format!(
                "{} over {}, {} -> {target}",
                setting.agent, setting.transport, setting.local
            ),
            None => format!(
                "{} over {}, {}",
                setting.agent, setting.transport, setting.local
            ),
        };
        Self {
            heading,
            counts,
            refused,
            delays,
            messages: messages
                .map(|(kind, counts)| (kind.clone(), json!(counts)))
                .collect(),
            duration_s: setting.duration_s,
        }
    }

    /// The figures under their names: delays as in a run's metrics.
    pub(super) fn json(&self) -> Value {
        let mut report = Map::new();
        for (key, _, count) in &self.counts {
            report.insert((*key).to_owned(), (*count).into());
        }
        for (prefix, _, delays) in &self.delays {
            delays.put(&mut report, prefix);
        }
        if !self.refused.is_empty() {
            report.insert("refused_codes".to_owned(), json!(self.refused));
        }
        report.insert("duration_s".to_owned(), self.duration_s.into());
        report.insert("messages".to_owned(), Value::Object(self.messages.clone()));
        Value::Object(report)
    }

    /// The figures for people.
    pub(super) fn table(&self) -> String {
        let mut text = format!("{}, {:.1} s\n\n", self.heading, self.duration_s);
        for (_, name, count) in &self.counts {
            line(&mut text, format_args!("{name:28}{count:>10}"));
        }
        for (code, count) in &self.refused {
            line(&mut text, format_args!("  refused with {code}: {count}"));
        }
        let names = ["mean", "sd", "p50", "p90", "p95", "p99", "max"];
        let names = names.map(|name| format!("{name:>10}")).concat();
        line(
            &mut text,
            format_args!("\n{:22}{:>8}{names}", "in milliseconds", "count"),
        );
        for (_, name, delays) in &self.delays {
            let figures = delays.figures().map(|(_, value)| {
                value.map_or(format!("{:>10}", "-"), |value| {
                    format!("{:>10.3}", 1e3 * value)
                })
            });
            line(
                &mut text,
                format_args!("{name:22}{:>8}{}", delays.count(), figures.concat()),
            );
        }
        line(
            &mut text,
            format_args!(
                "\n{:16}{:>10}{:>10}{:>10}{:>10}",
                "message", "sent", "again", "received", "again"
            ),
        );
        for (kind, counts) in &self.messages {
            let cells = ["sent", "sent_again", "received", "received_again"];
            let cells = cells.map(|cell| format!("{:>10}", counts[cell].as_u64().unwrap_or(0)));
            line(&mut text, format_args!("{kind:16}{}", cells.concat()));
        }
        text
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{arguments}");
}
