//! The carrier of a request to the Hub and its answer back.

use std::fmt;
use std::io::Read;
use std::thread;
use std::time::Duration;

/// A request for what is at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HubRequest<'a> {
    /// The address.
    pub url: &'a str,
    /// The token to show, as `Authorization: Bearer TOKEN`.
    pub token: Option<&'a str>,
}

impl<'a> HubRequest<'a> {
    pub(super) fn new(url: &'a str, token: Option<&'a str>) -> Self {
        Self { url, token }
    }
}

/// The token is left out, so that no log gets it.
impl fmt::Debug for HubRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubRequest")
            .field("url", &self.url)
            .field("has_token", &self.token.is_some())
            .finish()
    }
}

/// The answer of a server.
#[non_exhaustive]
pub struct HubAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// The headers, in any case of letters.
    pub headers: Vec<(String, String)>,
    /// The body. Nothing says that it ends; who reads it sets a limit.
    pub body: Box<dyn Read + Send>,
}

impl HubAnswer {
    /// An answer.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Box<dyn Read + Send>) -> Self {
        Self {
            status,
            headers,
            body,
        }
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter();
        let found = found.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HubAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubAnswer")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// The error for a server that no answer comes from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Unreachable {
    /// The cause, in words.
    pub reason: String,
    /// The kind of cause.
    pub kind: UnreachableKind,
}

impl Unreachable {
    /// The error, with its cause.
    pub fn new(kind: UnreachableKind, reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            kind,
        }
    }
}

/// The causes for which no answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreachableKind {
    /// There is no way to the server: its name is not known, nothing listens there, or a proxy lets nobody through.
    NoWay,
    /// The server says nothing for too long.
    Silent,
    /// The connection broke off.
    Broken,
    /// The server's certificate is not believed.
    Distrusted,
}

/// A pause before the same thing is asked once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pause {
    /// For how long.
    pub length: Duration,
    /// True if the server asks for it, false if it is for a server or a connection that failed.
    pub is_asked_for: bool,
}

impl Pause {
    pub(super) fn new(length: Duration, is_asked_for: bool) -> Self {
        Self {
            length,
            is_asked_for,
        }
    }
}

/// A carrier of requests, which waits between them. It follows no redirects: to whom the token may be shown is not its to decide.
pub trait Transport: Sync {
    /// Asks for what is at an address.
    ///
    /// # Errors
    ///
    /// That no answer comes. An answer with any status is one.
    fn get(&self, request: &HubRequest<'_>) -> Result<HubAnswer, Unreachable>;

    /// Waits.
    fn pause(&self, pause: &Pause) {
        thread::sleep(pause.length);
    }
}

impl<T: Transport + ?Sized> Transport for &T {
    fn get(&self, request: &HubRequest<'_>) -> Result<HubAnswer, Unreachable> {
        (**self).get(request)
    }

    fn pause(&self, pause: &Pause) {
        (**self).pause(pause);
    }
}
