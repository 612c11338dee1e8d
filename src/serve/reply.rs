//! The reply to a request: an exchange streamed, or awaited.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::exchange::Exchange;
use super::refusal::{Refusal, json_answer};
use super::upstream::Pieces;

/// After how much silence a comment is sent, for whatever stands between and closes connections that say nothing.
const QUIET: Duration = Duration::from_secs(15);

/// The text that is sent then: a comment, and no event.
const COMMENT: &str = ": waiting\n\n";

/// An exchange with the upstream that writes it.
pub(super) struct Reply {
    exchange: Exchange,
    /// `None` once nothing more is to come.
    pieces: Option<Pieces>,
    /// The place among those that are answered at the same time.
    _place: OwnedSemaphorePermit,
}

impl Reply {
    pub(super) fn new(exchange: Exchange, pieces: Pieces, place: OwnedSemaphorePermit) -> Self {
        Self {
            exchange,
            pieces: Some(pieces),
            _place: place,
        }
    }

    /// Lets the exchange take the next piece, or end. Nothing is lost when the future is dropped.
    async fn advance(&mut self) -> Result<(), Refusal> {
        let Some(pieces) = &mut self.pieces else {
            return Ok(());
        };
        if let Some(piece) = pieces.next().await? {
            self.exchange.take(piece)?;
            // Whatever has arrived by then is sent with it.
            while let Some(piece) = pieces.arrived() {
                self.exchange.take(piece)?;
            }
            if !self.exchange.is_cut() {
                return Ok(());
            }
        }
        self.pieces = None;
        self.exchange.end()
    }

    /// Streams the exchange. Whoever drops the answer's body ends it.
    pub(super) fn stream(self) -> Response {
        let frames = stream::unfold(self, |mut reply| async move {
            let bytes = reply.frames().await?;
            Some((Ok::<_, Infallible>(bytes), reply))
        });
        let mut response = Response::new(Body::from_stream(frames));
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // Proxies that gather a stream before they pass it on are asked not to.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The next frames; `None` at the end.
    async fn frames(&mut self) -> Option<Bytes> {
        loop {
            let frames = self.exchange.frames();
            if !frames.is_empty() {
                return Some(Bytes::from(frames));
            }
            self.pieces.as_ref()?;
            match timeout(QUIET, self.advance()).await {
                Ok(Ok(())) => {}
                Ok(Err(refusal)) => {
                    self.pieces = None;
                    self.exchange.fail(&refusal);
                }
                Err(_) => return Some(Bytes::from_static(COMMENT.as_bytes())),
            }
        }
    }

    /// Waits for the end, and answers with all of it.
    pub(super) async fn whole(mut self) -> Result<Response, Refusal> {
        while self.pieces.is_some() {
            // The answer to the request tells of the error.
            if let Err(refusal) = self.advance().await {
                self.exchange.refuse();
                return Err(refusal);
            }
        }
        Ok(json_answer(StatusCode::OK, &self.exchange.whole()))
    }
}
