//! A server that writes raw completions, as OpenAI's interface has them under `/completions`.

use std::io::{self, Read as _};
use std::time::Duration;

use obverse::value::{Map, Value, json};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::lines::Stream;
use super::{PIECE, Recording, excerpt, server_error};
use crate::cli::problem::Problem;
use crate::cli::{escape, render, wire};

/// How long it may take to be connected.
const CONNECTING: Duration = Duration::from_secs(20);

/// How much of an answer that is no stream is read, to tell what is in it.
const ANSWER: u64 = 64 * 1024;

/// Which server to ask, and for what.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Ask a server for raw completions: the base URL of its OpenAI-compatible interface, such as http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL", requires = "model", conflicts_with = "jsonl", help_heading = SERVER)]
    url: Option<String>,

    /// The model's name on the server
    #[arg(long, requires = "url", help_heading = SERVER)]
    model: Option<String>,

    /// How many tokens to write at most
    #[arg(long, value_name = "N", default_value_t = 1024, requires = "url", help_heading = SERVER)]
    max_tokens: u32,

    /// The temperature of sampling: 0 takes the most likely token each time
    #[arg(long, value_name = "NUMBER", requires = "url", help_heading = SERVER)]
    temperature: Option<f64>,

    /// A further field of the request, such as seed=1; null leaves one out
    #[arg(long = "field", value_name = "K=JSON", value_parser = render::kwarg, requires = "url", help_heading = SERVER)]
    fields: Vec<(String, Value)>,

    /// The environment variable that holds the key to the server
    #[arg(long, value_name = "NAME", requires = "url", help_heading = SERVER)]
    api_key_env: Option<String>,

    /// For how many seconds the server may say nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "url", help_heading = SERVER)]
    timeout: u64,
}

const SERVER: &str = "From a server";

/// A server and what it is asked.
pub(super) struct Server<'a> {
    args: &'a ServerArgs,
    url: String,
    key: Option<String>,
}

impl ServerArgs {
    /// The server, if one is named.
    ///
    /// # Errors
    ///
    /// That its key is not there.
    pub(super) fn server(&self) -> Result<Option<Server<'_>>, Problem> {
        let Some(url) = &self.url else {
            return Ok(None);
        };
        let key = match &self.api_key_env {
            None => None,
            Some(name) => match std::env::var(name) {
                Ok(key) if !key.is_empty() => Some(key),
                _ => {
                    let message = format!(
                        "the environment variable {} holds no key",
                        escape::line(name)
                    );
                    return Err(Problem::failed("no-key", message));
                }
            },
        };
        let base = url.trim_end_matches('/');
        let base = base.strip_suffix("/completions").unwrap_or(base);
        Ok(Some(Server {
            args: self,
            url: format!("{base}/completions"),
            key,
        }))
    }
}

impl Server<'_> {
    /// Sends the prompt and records what is written after it.
    ///
    /// # Errors
    ///
    /// That the server cannot be asked, or does not answer with a stream.
    pub(super) fn record(&self, prompt: &str) -> Result<Recording, Problem> {
        let silence = Some(Duration::from_secs(self.args.timeout));
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECTING))
            .timeout_recv_response(silence)
            .timeout_per_read(silence)
            .user_agent(concat!("obverse/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut request = agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "text/event-stream");
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = json::to_string(&Value::Object(self.body(prompt)));
        let mut answer = request
            .send(body)
            .map_err(|error| self.unreachable(&error))?;
        let content_type = answer.headers().get("Content-Type");
        let is_stream = content_type
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("text/event-stream"));
        if answer.status() != StatusCode::OK || !is_stream {
            return Err(self.refused(&mut answer));
        }
        Ok(self.follow(answer))
    }

    /// The request. What is no part of OpenAI's interface is for vLLM and SGLang, which leave markers out and begin the
    /// prompt once more otherwise; other servers take no notice.
    fn body(&self, prompt: &str) -> Map {
        let args = self.args;
        let mut body = wire::object([
            ("model", args.model.as_deref().unwrap_or_default().into()),
            ("prompt", prompt.into()),
            ("stream", true.into()),
            ("max_tokens", i64::from(args.max_tokens).into()),
            ("add_special_tokens", false.into()),
            ("skip_special_tokens", false.into()),
            ("spaces_between_special_tokens", false.into()),
            ("include_stop_str_in_output", true.into()),
        ]);
        body.extend(
            args.temperature
                .map(|number| ("temperature", Value::from(number))),
        );
        body.extend(args.fields.iter().cloned());
        body.retain(|_, value| *value != Value::Null);
        body
    }

    /// Reads the stream. However it ends, what has arrived is kept.
    fn follow(&self, answer: Response<Body>) -> Recording {
        let mut reading = answer.into_body().into_reader();
        let mut stream = Stream::default();
        let mut buffer = vec![0; PIECE];
        let broken = loop {
            match reading.read(&mut buffer) {
                Ok(0) => {
                    stream.last();
                    break "the server ended the stream before its end".to_owned();
                }
                Ok(count) if stream.feed(&buffer[..count]) => {}
                // It has said that it is at its end, or something that is not understood.
                Ok(_) => return stream.recording,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break format!("the connection failed: {error}"),
            }
        };
        let mut recording = stream.recording;
        if !stream.is_ended && recording.broken.is_none() {
            recording.broken = Some(broken);
        }
        recording
    }

    fn unreachable(&self, error: &ureq::Error) -> Problem {
        let url = escape::line(&self.url);
        let problem = Problem::failed(
            "unreachable",
            format!(
                "{url} cannot be asked: {}",
                escape::line(&error.to_string())
            ),
        );
        let hint = match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "nothing listens there: start the server, or look at the port"
            }
            ureq::Error::HostNotFound => "look at the name of the host",
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                "give the base URL of the server, such as http://127.0.0.1:8000/v1"
            }
            ureq::Error::Timeout(_) => {
                "the server says nothing; wait for longer with --timeout, or look at it"
            }
            ureq::Error::RedirectFailed | ureq::Error::TooManyRedirects => {
                "the server is somewhere else: give the URL that it redirects to"
            }
            _ => return problem,
        };
        problem.with_hint(hint)
    }

    /// An answer that is no stream.
    fn refused(&self, answer: &mut Response<Body>) -> Problem {
        let status = answer.status();
        let mut bytes = Vec::new();
        // An answer that cannot be read is not quoted.
        let _ = answer
            .body_mut()
            .as_reader()
            .take(ANSWER)
            .read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let said = json::parse(text.trim())
            .ok()
            .as_ref()
            .and_then(server_error);
        let said = said.map_or_else(|| excerpt(&text), |said| excerpt(&said));
        let said = if said.is_empty() {
            "nothing".to_owned()
        } else {
            said
        };
        let url = escape::line(&self.url);
        let (message, hint) = match status.as_u16() {
            200 => (
                format!("{url} does not answer with a stream of events, but with: {said}"),
                "it must be a server with OpenAI's interface for raw completions, and stream them",
            ),
            404 | 405 => (
                format!("the server has no /completions at {url}; it says: {said}"),
                "give the base URL, such as http://127.0.0.1:8000/v1; a server may have chat completions alone, whose text is not raw",
            ),
            401 | 403 => (
                format!("the server wants a key, or another one; it says: {said}"),
                "give the name of the environment variable that holds it with --api-key-env",
            ),
            400 | 422 => (
                format!("the server does not take the request; it says: {said}"),
                "change a field of it with --field, such as --field skip_special_tokens=null to leave that one out",
            ),
            429 => (
                format!("the server has too much to do; it says: {said}"),
                "try again later",
            ),
            status => (
                format!("the server answers with status {status}; it says: {said}"),
                "look at the server's own log",
            ),
        };
        Problem::failed("refused", message).with_hint(hint)
    }
}
