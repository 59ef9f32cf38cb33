//! The servers' side.

use std::collections::VecDeque;

use headway_sansio::{Payload, Time};

use super::WebWorkload;
use super::users::WebId;
use crate::{Application, Incoming, Outgoing};

/// Answers each request with the object that it asks for, at once.
#[derive(Clone, Debug)]
pub struct WebServer {
    workload: WebWorkload,
    outputs: VecDeque<Outgoing>,
}

impl WebServer {
    /// A server of the objects of this workload.
    #[must_use]
    pub fn new(workload: &WebWorkload) -> Self {
        Self {
            workload: workload.clone(),
            outputs: VecDeque::new(),
        }
    }
}

impl Application for WebServer {
    fn start(&mut self, _: Time) {}

    fn handle_message(&mut self, _: Time, request: Incoming) {
        let Some(id) = request.id.map(WebId::decode).filter(|id| !id.reply) else {
            return;
        };
        self.outputs.push_back(Outgoing {
            id: WebId { reply: true, ..id }.encode(),
            to: request.from,
            context: request.from.0,
            payload: Payload::Sized(self.workload.object_bytes(id.object)),
        });
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.outputs.is_empty()
    }
}
