//! Requests to the Hub, by ureq: proxies are those of the environment, and every wait has an end.

use std::io;
use std::thread;
use std::time::Duration;

use obverse::hub::{HubAnswer, HubRequest, Pause, Transport, Unreachable, UnreachableKind};
use ureq::{Agent, Error};

use crate::cli::output;

/// How long it may take to be connected.
const CONNECTING: Duration = Duration::from_secs(20);

/// For how long the server may say nothing.
const SILENCE: Duration = Duration::from_secs(30);

/// How long all of a request may take; a tokenizer comes within it by a slow line, and a server that gives a byte now and then does not.
const WHOLE: Duration = Duration::from_secs(600);

/// A pause that is longer is told to those who wait.
const UNNOTICED: Duration = Duration::from_secs(2);

/// The transport.
#[derive(Debug)]
pub(crate) struct Http {
    agent: Agent,
}

impl Http {
    pub(crate) fn new() -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECTING))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .timeout_global(Some(WHOLE))
            // The size that is announced is to be that of the content.
            .accept_encoding("identity")
            .user_agent(concat!("obverse/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Self { agent }
    }
}

impl Transport for Http {
    fn get(&self, request: &HubRequest<'_>) -> Result<HubAnswer, Unreachable> {
        let mut asked = self.agent.get(request.url);
        if let Some(token) = request.token {
            asked = asked.header("Authorization", format!("Bearer {token}"));
        }
        let answer = asked.call().map_err(|error| unreachable(&error))?;
        let headers = answer.headers().iter().filter_map(|(name, value)| {
            let value = value.to_str().ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        });
        let headers = headers.collect();
        let status = answer.status().as_u16();
        Ok(HubAnswer::new(
            status,
            headers,
            Box::new(answer.into_body().into_reader()),
        ))
    }

    fn pause(&self, pause: &Pause) {
        let seconds = pause.length.as_secs();
        match pause.is_asked_for {
            _ if pause.length <= UNNOTICED => {}
            true => output::tell(&format!(
                "the Hub asks for a pause: going on in {seconds} s\n"
            )),
            false => output::tell(&format!("the Hub fails: asking again in {seconds} s\n")),
        }
        thread::sleep(pause.length);
    }
}

/// The cause for which no answer comes.
fn unreachable(error: &Error) -> Unreachable {
    let kind = match error {
        Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => UnreachableKind::NoWay,
        Error::Timeout(_) => UnreachableKind::Silent,
        Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown => UnreachableKind::NoWay,
            io::ErrorKind::TimedOut => UnreachableKind::Silent,
            io::ErrorKind::InvalidData => UnreachableKind::Distrusted,
            _ => UnreachableKind::Broken,
        },
        Error::Tls(_) | Error::Rustls(_) => UnreachableKind::Distrusted,
        _ => UnreachableKind::NoWay,
    };
    Unreachable::new(kind, error.to_string())
}
