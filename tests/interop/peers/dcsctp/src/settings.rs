//! The command line.

use std::time::Duration;

use dcsctp::api::Options;

/// What the tests set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) serve: bool,
    pub(crate) udp: u16,
    pub(crate) remote_udp: u16,
    pub(crate) port: u16,
    pub(crate) count: u32,
    pub(crate) size: usize,
    pub(crate) streams: u16,
    pub(crate) window: u32,
    pub(crate) unordered: bool,
    pub(crate) interleave: bool,
    pub(crate) reset: bool,
    pub(crate) linger: bool,
    pub(crate) max_rtx: Option<u16>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) end: String,
    pub(crate) end_after: u32,
    pub(crate) rto_max: Option<Duration>,
    pub(crate) assoc_max_rtx: Option<u32>,
}

impl Settings {
    pub(crate) const USAGE: &str = "\
dcsctp-peer serve|connect --udp PORT [--remote-udp PORT] [--port SCTP-PORT]
  [--count N] [--size BYTES] [--streams K] [--window N] [--unordered]
  [--interleave] [--max-rtx N] [--ttl MS] [--reset]
  [--end shutdown|abort|wait] [--end-after N] [--rto-max MS] [--assoc-max-rtx N]
  [--linger]";

    /// Reads the arguments after the program's name.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self {
            serve: match words.next().as_deref() {
                Some("serve") => true,
                Some("connect") => false,
                _ => return Err("serve or connect?".into()),
            },
            udp: 0,
            remote_udp: 0,
            port: 5000,
            count: 100,
            size: 100,
            streams: 1,
            window: 64,
            unordered: false,
            interleave: false,
            reset: false,
            linger: false,
            max_rtx: None,
            ttl: None,
            end: "shutdown".into(),
            end_after: 0,
            rto_max: None,
            assoc_max_rtx: None,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--unordered" => settings.unordered = true,
                "--interleave" => settings.interleave = true,
                "--reset" => settings.reset = true,
                "--linger" => settings.linger = true,
                option => {
                    let value = words.next().ok_or(format!("{option} lacks its value"))?;
                    settings.put(option, &value)?;
                }
            }
        }
        if settings.udp == 0 || !settings.serve && settings.remote_udp == 0 {
            return Err("UDP ports are needed".into());
        }
        if settings.streams == 0 || settings.size == 0 {
            return Err("at least one stream and one byte".into());
        }
        Ok(settings)
    }

    fn put(&mut self, option: &str, value: &str) -> Result<(), String> {
        fn number<T: TryFrom<u64>>(option: &str, value: &str) -> Result<T, String> {
            let wrong = || format!("{option} {value}: not a number that fits");
            let n: u64 = value.parse().map_err(|_| wrong())?;
            T::try_from(n).map_err(|_| wrong())
        }
        let millis = || number(option, value).map(Duration::from_millis);
        match option {
            "--udp" => self.udp = number(option, value)?,
            "--remote-udp" => self.remote_udp = number(option, value)?,
            "--port" => self.port = number(option, value)?,
            "--count" => self.count = number(option, value)?,
            "--size" => self.size = number(option, value)?,
            "--streams" => self.streams = number(option, value)?,
            "--window" => self.window = number(option, value)?,
            "--max-rtx" => self.max_rtx = Some(number(option, value)?),
            "--ttl" => self.ttl = Some(millis()?),
            "--end" => value.clone_into(&mut self.end),
            "--end-after" => self.end_after = number(option, value)?,
            "--rto-max" => self.rto_max = Some(millis()?),
            "--assoc-max-rtx" => self.assoc_max_rtx = Some(number(option, value)?),
            _ => return Err(format!("{option}: no such option")),
        }
        Ok(())
    }

    /// Whether messages may be given up.
    pub(crate) fn is_partial(&self) -> bool {
        self.max_rtx.is_some() || self.ttl.is_some()
    }

    /// dcSCTP's options.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options {
            local_port: self.port,
            remote_port: self.port,
            max_message_size: 300_000,
            max_send_buffer_size: 20_000_000,
            per_stream_send_queue_limit: 20_000_000,
            enable_message_interleaving: self.interleave,
            ..Options::default()
        };
        if let Some(most) = self.rto_max {
            options.rto_max = most;
            options.rto_initial = options.rto_initial.min(most);
            options.rto_min = options.rto_min.min(most);
            options.max_timer_backoff_duration = Some(most);
        }
        if let Some(most) = self.assoc_max_rtx {
            options.max_retransmissions = Some(most);
        }
        options
    }
}
