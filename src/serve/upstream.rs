//! The server that writes: its raw completions, streamed.

use std::collections::VecDeque;
use std::error::Error as _;
use std::time::Duration;

use axum::http::{HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout, timeout_at};

use super::Config;
use super::refusal::Refusal;
use super::sse::Events;
use crate::value::{Map, Value, json};

/// How long it may take to be connected.
const CONNECTING: Duration = Duration::from_secs(20);

/// How much of an answer that is no stream is read, in bytes.
const ANSWER: usize = 256 << 10;

/// How many characters of such an answer are passed on.
const SAID: usize = 400;

/// A URL that no upstream can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} is no base URL of a server: {why}")]
#[non_exhaustive]
pub struct WrongUrl {
    /// The URL.
    pub url: String,
    /// The reason.
    pub why: String,
}

/// A server with OpenAI's interface for raw completions.
#[derive(Debug)]
pub struct Upstream {
    completions: Uri,
    models: Uri,
    key: Option<HeaderValue>,
    /// The model's name there.
    model: OnceCell<String>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Upstream {
    /// The server at a base URL, such as `http://127.0.0.1:8000/v1`; a path `/completions` at its end is taken off. Its key is sent as a bearer's.
    /// Without a name of the model there the server is asked for the first that it has.
    ///
    /// # Errors
    ///
    /// A URL that is none, or of another scheme than `http` and `https`; a key that no header can have.
    pub fn new(url: &str, key: Option<&str>, model: Option<String>) -> Result<Self, WrongUrl> {
        let wrong = |why: &str| WrongUrl {
            url: url.to_owned(),
            why: why.to_owned(),
        };
        let base = url.trim_end_matches('/');
        let base = base.strip_suffix("/completions").unwrap_or(base);
        let parse = |end: &str| {
            let uri = format!("{base}/{end}").parse::<Uri>();
            uri.map_err(|error| wrong(&error.to_string()))
        };
        let completions = parse("completions")?;
        if !matches!(completions.scheme_str(), Some("http" | "https")) {
            return Err(wrong("it must begin with http:// or https://"));
        }
        let key = key.map(|key| {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| wrong("its key cannot be sent in a header"))?;
            value.set_sensitive(true);
            Ok(value)
        });
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECTING));
        let connector = HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        Ok(Self {
            models: parse("models")?,
            completions,
            key: key.transpose()?,
            model: OnceCell::new_with(model),
            // Each request has a connection of its own: one that was kept may be closed on the other side by the time it is used, and
            // whether a completion has begun by then nobody can tell.
            client: Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector),
        })
    }

    /// Has the upstream write on after a prompt.
    pub(super) async fn write(
        &self,
        prompt: &str,
        writing: &Map,
        config: &Config,
    ) -> Result<Pieces, Refusal> {
        let limits = config.limits;
        let silent = || silent(limits.silence);
        let deadline = Instant::now() + limits.lasting;
        let model = timeout(limits.silence, self.model()).await;
        let model = model.map_err(|_| silent())??;
        let body = json::to_string(&Value::Object(asked(model, prompt, writing, config)));
        let request = self.request(&self.completions, "POST", body)?;
        let answer = timeout(limits.silence, self.client.request(request)).await;
        let answer = answer.map_err(|_| silent())?;
        let answer = answer.map_err(|error| unreachable(&self.completions, &error))?;
        let content_type = answer.headers().get(header::CONTENT_TYPE);
        let is_stream = content_type
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("text/event-stream"));
        if answer.status() != StatusCode::OK || !is_stream {
            let status = answer.status();
            let read = timeout(limits.silence, read(answer.into_body())).await;
            return Err(refused(status, &read.unwrap_or_default()));
        }
        Ok(Pieces {
            body: answer.into_body(),
            events: Events::default(),
            ready: VecDeque::new(),
            silence: limits.silence,
            deadline,
            finished: false,
            failed: None,
        })
    }

    /// The name of the model there.
    async fn model(&self) -> Result<&str, Refusal> {
        let ask = || async {
            let request = self.request(&self.models, "GET", String::new())?;
            let answer = self.client.request(request).await;
            let answer = answer.map_err(|error| unreachable(&self.models, &error))?;
            let (status, text) = (answer.status(), read(answer.into_body()).await);
            let listed = json::parse(&text).ok();
            let first = listed
                .as_ref()
                .and_then(|listed| listed.get("data")?.as_array()?.first());
            let name = first.and_then(|model| model.get("id")?.as_str());
            // A server with one model may have no list, and takes any name.
            match (status.as_u16(), name) {
                (200, Some(name)) => Ok(name.to_owned()),
                (404 | 405, _) => Ok("default".to_owned()),
                _ => Err(refused(status, &text)),
            }
        };
        self.model.get_or_try_init(ask).await.map(String::as_str)
    }

    fn request(
        &self,
        uri: &Uri,
        method: &str,
        body: String,
    ) -> Result<Request<Full<Bytes>>, Refusal> {
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "text/event-stream, application/json")
            .header(
                header::USER_AGENT,
                concat!("obverse/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let request = request.body(Full::new(Bytes::from(body)));
        request.map_err(|error| Refusal::upstream("upstream_unreachable", error.to_string()))
    }
}

/// The request. What is no part of OpenAI's interface is for servers that leave markers out and begin the prompt once more
/// otherwise; others take no notice.
fn asked(model: &str, prompt: &str, writing: &Map, config: &Config) -> Map {
    let mut body = Map::new();
    body.insert("max_tokens", Value::from(i64::from(config.max_tokens)));
    body.extend(
        writing
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    // A text at which the client wants the response to end is left out of it. The text with which the model ends by itself is read.
    let keeps_stop = !writing.contains_key("stop");
    let options: Map = [("include_usage".to_owned(), Value::from(true))]
        .into_iter()
        .collect();
    let own = [
        ("model", Value::from(model)),
        ("prompt", Value::from(prompt)),
        ("stream", Value::from(true)),
        ("stream_options", Value::Object(options)),
        ("add_special_tokens", Value::from(false)),
        ("skip_special_tokens", Value::from(false)),
        ("spaces_between_special_tokens", Value::from(false)),
        ("include_stop_str_in_output", Value::from(keeps_stop)),
    ];
    body.extend(own.map(|(key, value)| (key.to_owned(), value)));
    body.extend(
        config
            .fields
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    body.retain(|_, value| *value != Value::Null);
    body
}

/// Something that an upstream has written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// More text; never empty.
    Text(String),
    /// The response has ended; true if the upstream had written as much as it was allowed to.
    Finish(bool),
    /// How many tokens it took, in OpenAI's form.
    Usage(Value),
}

/// The pieces of a response as they arrive. Dropping it closes the connection, unless it is at its end.
#[derive(Debug)]
pub(super) struct Pieces {
    body: Incoming,
    events: Events,
    ready: VecDeque<Piece>,
    silence: Duration,
    deadline: Instant,
    /// True if the upstream has said that it is at its end.
    finished: bool,
    /// The fault behind the pieces that are ready, if there is one.
    failed: Option<Refusal>,
}

impl Pieces {
    /// The next piece; `None` at the end. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Piece>, Refusal> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some(piece));
            }
            if let Some(refusal) = self.failed.take() {
                return Err(refusal);
            }
            if self.finished && self.body_is_over() {
                return Ok(None);
            }
            let until = self.deadline.min(Instant::now() + self.silence);
            let frame = match timeout_at(until, self.body.frame()).await {
                Ok(frame) => frame,
                Err(_) if until == self.deadline => {
                    let message = "the response takes longer than an exchange may last";
                    return Err(Refusal::new(
                        StatusCode::GATEWAY_TIMEOUT,
                        "too_long",
                        message,
                    ));
                }
                Err(_) => return Err(silent(self.silence)),
            };
            match frame {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        self.take(bytes);
                    }
                }
                // An upstream that has sent everything may close the connection.
                None | Some(Err(_)) if self.finished => return Ok(None),
                None => {
                    let message = "the upstream server ended the response before its end";
                    return Err(Refusal::upstream("upstream_broke_off", message));
                }
                Some(Err(error)) => {
                    let message = format!("the connection to the upstream server broke: {error}");
                    return Err(Refusal::upstream("upstream_broke_off", message));
                }
            }
        }
    }

    /// The next of the pieces that have arrived already.
    pub(super) fn arrived(&mut self) -> Option<Piece> {
        self.ready.pop_front()
    }

    fn body_is_over(&self) -> bool {
        hyper::body::Body::is_end_stream(&self.body)
    }

    fn take(&mut self, bytes: &[u8]) {
        let Self {
            events,
            ready,
            finished,
            failed,
            ..
        } = self;
        let read = events.feed(bytes, &mut |data| match brought(data, ready) {
            Ok(is_last) => {
                *finished |= is_last
                    || ready
                        .iter()
                        .rev()
                        .take(2)
                        .any(|piece| matches!(piece, Piece::Finish(_)));
                true
            }
            Err(refusal) => {
                *failed = Some(refusal);
                false
            }
        });
        if let Err(error) = read {
            let message = format!("the upstream server sends what is no stream of events: {error}");
            *failed = Some(Refusal::upstream("upstream_garbled", message));
        }
    }
}

/// Reads an event, and returns true if it is the last one.
fn brought(data: &str, ready: &mut VecDeque<Piece>) -> Result<bool, Refusal> {
    let data = data.trim();
    if data == "[DONE]" {
        return Ok(true);
    }
    if data.is_empty() {
        return Ok(false);
    }
    let garbled = |what: &str| {
        let message = format!("the upstream server sends {what}: {}", excerpt(data));
        Refusal::upstream("upstream_garbled", message)
    };
    let value = json::parse(data).map_err(|_| garbled("an event that is not JSON"))?;
    if let Some(error) = error_message(&value) {
        let message = format!("the upstream server says: {}", excerpt(&error));
        return Err(Refusal::upstream("upstream_failed", message));
    }
    let choices = value.get("choices").and_then(Value::as_array);
    let choices = choices.ok_or_else(|| garbled("an event that is no completion"))?;
    if let Some(choice) = choices.first() {
        if choice.get("delta").is_some() || choice.get("message").is_some() {
            let message = "the upstream server sends chat completions, which it has parsed itself; raw completions are needed";
            return Err(Refusal::upstream("upstream_garbled", message));
        }
        match choice.get("text") {
            Some(Value::String(text)) if !text.is_empty() => {
                ready.push_back(Piece::Text(text.clone()));
            }
            None | Some(Value::String(_) | Value::Null) => {}
            Some(_) => return Err(garbled("a text that is none")),
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            ready.push_back(Piece::Finish(reason == "length"));
        }
    }
    if let Some(usage @ Value::Object(_)) = value.get("usage") {
        ready.push_back(Piece::Usage(usage.clone()));
    }
    Ok(false)
}

/// The message of an error as servers write it: `{"error": {"message": ...}}`, `{"error": ...}`, `{"detail": ...}` or
/// `{"object": "error", "message": ...}`.
fn error_message(value: &Value) -> Option<String> {
    let member = |key: &str| value.get(key).filter(|error| **error != Value::Null);
    let error = member("error")
        .or_else(|| member("detail"))
        .or_else(|| (value.get("object")?.as_str()? == "error").then_some(value))?;
    let message = error.get("message").unwrap_or(error);
    let text = message.as_str().map(str::to_owned);
    Some(text.unwrap_or_else(|| json::to_string(message)))
}

fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SAID) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    }
}

/// All of an answer that is no stream, as far as it can be read.
async fn read(body: Incoming) -> String {
    let read = Limited::new(body, ANSWER).collect().await;
    read.map_or_else(
        |_| String::new(),
        |all| String::from_utf8_lossy(&all.to_bytes()).into_owned(),
    )
}

fn silent(limit: Duration) -> Refusal {
    let message = format!(
        "the upstream server says nothing for {} seconds",
        limit.as_secs_f64()
    );
    Refusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream_silent", message)
}

fn unreachable(uri: &Uri, error: &hyper_util::client::legacy::Error) -> Refusal {
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        why = cause.to_string();
        source = cause.source();
    }
    let message = format!("the upstream server cannot be asked at {uri}: {why}");
    Refusal::upstream("upstream_unreachable", message)
}

/// An answer that is no stream. What is wrong with the request is the client's to mend; all else is between the two servers.
fn refused(status: StatusCode, text: &str) -> Refusal {
    let told = json::parse(text.trim())
        .ok()
        .as_ref()
        .and_then(error_message);
    let told = excerpt(told.as_deref().unwrap_or(text));
    match status.as_u16() {
        400 | 413 | 422 => Refusal::new(
            StatusCode::BAD_REQUEST,
            "upstream_refused",
            format!("the upstream server does not take the request: {told}"),
        ),
        429 | 503 => Refusal::new(
            status,
            "upstream_busy",
            format!("the upstream server has too much to do: {told}"),
        ),
        200 => Refusal::upstream(
            "upstream_garbled",
            format!("the upstream server does not answer with a stream of events: {told}"),
        ),
        status => Refusal::upstream(
            "upstream_refused",
            format!("the upstream server answers with status {status}: {told}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(data: &str) -> Result<(Vec<Piece>, bool), String> {
        let mut ready = VecDeque::new();
        let last = brought(data, &mut ready).map_err(|refusal| refusal.message)?;
        Ok((ready.into(), last))
    }

    #[test]
    fn events_are_texts_ends_and_usages() {
        let usage = json::parse(r#"{"prompt_tokens": 3}"#).unwrap();
        for (data, expected, is_last) in [
            (
                r#"{"choices": [{"text": "a"}]}"#,
                vec![Piece::Text("a".to_owned())],
                false,
            ),
            (
                r#"{"choices": [{"text": "", "finish_reason": null}]}"#,
                vec![],
                false,
            ),
            (
                r#"{"choices": [{"text": "b", "finish_reason": "length"}], "usage": {"prompt_tokens": 3}}"#,
                vec![
                    Piece::Text("b".to_owned()),
                    Piece::Finish(true),
                    Piece::Usage(usage),
                ],
                false,
            ),
            ("[DONE]", vec![], true),
        ] {
            assert_eq!(pieces(data), Ok((expected, is_last)), "{data}");
        }
    }

    #[test]
    fn what_is_no_completion_is_told() {
        for (data, told) in [
            ("<html>", "not JSON: <html>"),
            (
                r#"{"error": {"message": "out of memory"}}"#,
                "says: out of memory",
            ),
            (
                r#"{"choices": [{"delta": {}}]}"#,
                "raw completions are needed",
            ),
            (r#"{"text": 1}"#, "no completion"),
            (r#"{"choices": [{"text": 1}]}"#, "a text that is none"),
        ] {
            let error = pieces(data).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn an_upstream_has_a_base_url() {
        let made = |url: &str| Upstream::new(url, None, None).map(|it| it.completions.to_string());
        let expected = "http://127.0.0.1:8000/v1/completions".to_owned();
        assert_eq!(made("http://127.0.0.1:8000/v1/"), Ok(expected.clone()));
        assert_eq!(made("http://127.0.0.1:8000/v1/completions"), Ok(expected));
        for wrong in ["127.0.0.1:8000", "ftp://a/v1", "", "http://a b"] {
            assert!(made(wrong).is_err(), "{wrong}");
        }
        assert!(Upstream::new("http://a/v1", Some("a\nb"), None).is_err());
    }

    #[test]
    fn what_is_asked_can_be_changed_by_client_and_operator() {
        let map = |text: &str| json::parse(text).unwrap().as_object().unwrap().clone();
        let config = Config {
            fields: map(r#"{"skip_special_tokens": null, "cache_prompt": true}"#),
            ..Config::default()
        };
        let body = asked(
            "m",
            "p",
            &map(r#"{"max_tokens": 5, "stop": ["x"], "prompt": "evil"}"#),
            &config,
        );
        assert_eq!(
            json::to_string(&Value::Object(body)),
            r#"{"max_tokens": 5, "stop": ["x"], "prompt": "p", "model": "m", "stream": true, "stream_options": {"include_usage": true}, "add_special_tokens": false, "spaces_between_special_tokens": false, "include_stop_str_in_output": false, "cache_prompt": true}"#
        );
    }
}
