//! Connections and routes.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path as RoutePath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::ask::Turn;
use super::constrain;
use super::exchange::{Exchange, Setting};
use super::record::Recorder;
use super::refusal::{Refusal, json_answer, object};
use super::reply::Reply;
use super::{Config, Model, Notice, Tell, Upstream};
use crate::chat_template::RenderInput;
use crate::deltas::encode::Protocol;
use crate::value::{Integer, Value};

/// How long the head of a request may take to arrive, and its body.
const ARRIVING: Duration = Duration::from_secs(60);

/// How long is waited after a connection could not be taken, as when there are no file handles left.
const PAUSE: Duration = Duration::from_millis(100);

/// How many connections may wait to be taken; the system caps it (`net.core.somaxconn` on Linux). The 128 that are usual let clients that come
/// at the same moment, as those of an agent's batch do, be turned away by the system with a reset.
const WAITING: u32 = 4096;

/// The state that all requests share.
struct Server {
    model: Model,
    upstream: Upstream,
    config: Config,
    recorder: Option<Recorder>,
    places: Arc<Semaphore>,
    /// True if whoever reaches the server is on the same machine, or should be.
    is_loopback: bool,
    /// Where numbers of exchanges begin, so that they differ from those of an earlier run.
    begun: u128,
    number: AtomicU64,
    tell: Tell,
}

/// Listens at an address for [`serve`], with room for as many clients at once as the system lets wait.
///
/// # Errors
///
/// That the address is taken, is not this machine's, or may not be had.
///
/// # Panics
///
/// Outside of a runtime of tokio.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A server that is started again takes its port while old connections are still on their way out. Elsewhere the option means another thing.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Serves until `stop` is done; then lets exchanges end for as long as the limits say, and drops those that are left.
///
/// # Errors
///
/// That the listener has no address, that it is open to other machines without a key, or that the folder for fixtures cannot be written.
pub async fn serve(
    listener: TcpListener,
    model: Model,
    upstream: Upstream,
    config: Config,
    stop: impl Future<Output = ()>,
    tell: Tell,
) -> io::Result<()> {
    let is_loopback = listener.local_addr()?.ip().is_loopback();
    if !is_loopback && config.api_key.is_none() {
        let message = "other machines can reach the server, so it needs a key";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let recorder = config.record.as_deref().map(|folder: &Path| {
        let template = Arc::clone(model.template.template());
        Recorder::new(folder, &model.document, template).map_err(io::Error::other)
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let grace = config.limits.grace;
    let server = Arc::new(Server {
        places: Arc::new(Semaphore::new(config.limits.exchanges)),
        recorder: recorder.transpose()?,
        is_loopback,
        begun: now.map_or(0, |now| now.as_millis()),
        number: AtomicU64::new(0),
        model,
        upstream,
        config,
        tell,
    });
    accept(&listener, router(&server), grace, stop).await;
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    router: Router,
    grace: Duration,
    stop: impl Future<Output = ()>,
) {
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVING);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Small pieces are not to wait for each other; that it cannot be had is no reason not to serve.
                    let _ = stream.set_nodelay(true);
                    let connection = http.serve_connection(TokioIo::new(stream), service.clone());
                    // A connection that breaks is its client's affair.
                    connections.spawn(graceful.watch(connection));
                }
                Err(_) => sleep(PAUSE).await,
            },
        }
    }
    // Exchanges that are left after that are cut off: the set drops their connections, and with them those to the upstream.
    let _ = timeout(grace, graceful.shutdown()).await;
}

fn router(server: &Arc<Server>) -> Router {
    let guarded = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
        .route("/v1/models", get(models))
        .route("/v1/models/{*name}", get(model))
        .layer(middleware::from_fn_with_state(Arc::clone(server), guard));
    Router::new()
        .merge(guarded)
        .route("/health", get(health))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .with_state(Arc::clone(server))
}

/// Lets in who may come in.
async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let protocol = protocol_of(request.uri().path());
    let allowed = match &server.config.api_key {
        Some(key) => shown_key(request.headers()).is_some_and(|shown| same(shown, key)),
        // A page of some other site can have a name of its own lead to this machine, but cannot change what name was asked for.
        None if server.is_loopback => is_local(request.headers()),
        None => false,
    };
    if allowed {
        return next.run(request).await;
    }
    let refusal = match &server.config.api_key {
        Some(_) => Refusal::new(
            StatusCode::UNAUTHORIZED,
            "invalid_api_key",
            "the key is missing, or another one: send it as `Authorization: Bearer KEY` or `x-api-key: KEY`",
        ),
        None => Refusal::new(
            StatusCode::FORBIDDEN,
            "not_local",
            "the server has no key, and so answers only to localhost and to this machine's addresses",
        ),
    };
    refusal.answer(protocol)
}

fn shown_key(headers: &HeaderMap) -> Option<&str> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    bearer.or_else(|| text("x-api-key"))
}

/// Compares in a time that does not tell how much is right.
fn same(shown: &str, key: &str) -> bool {
    let pairs = shown.bytes().zip(key.bytes());
    shown.len() == key.len() && pairs.fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        return true;
    };
    let host = host.to_str().unwrap_or_default();
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        match port.bytes().all(|byte| byte.is_ascii_digit()) {
            true => name,
            false => host,
        }
    });
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn protocol_of(path: &str) -> Protocol {
    match path {
        "/v1/messages" => Protocol::Anthropic,
        "/v1/responses" => Protocol::Responses,
        _ => Protocol::OpenAi,
    }
}

async fn chat(State(server): State<Arc<Server>>, request: Request) -> Response {
    answer(server, Protocol::OpenAi, request).await
}

async fn responses(State(server): State<Arc<Server>>, request: Request) -> Response {
    answer(server, Protocol::Responses, request).await
}

async fn messages(State(server): State<Arc<Server>>, request: Request) -> Response {
    answer(server, Protocol::Anthropic, request).await
}

async fn health(State(server): State<Arc<Server>>) -> Response {
    let free = server.places.available_permits();
    let busy = server.config.limits.exchanges.saturating_sub(free);
    let told = object([
        ("status", Value::from("ok")),
        ("exchanges", Value::count(busy)),
    ]);
    json_answer(StatusCode::OK, &told)
}

async fn models(State(server): State<Arc<Server>>) -> Response {
    let list = object([
        ("object", Value::from("list")),
        ("data", Value::Array(vec![server.described()])),
    ]);
    json_answer(StatusCode::OK, &list)
}

async fn model(State(server): State<Arc<Server>>, RoutePath(name): RoutePath<String>) -> Response {
    if name == server.model.name {
        return json_answer(StatusCode::OK, &server.described());
    }
    let message = format!("there is no model `{name}`, only `{}`", server.model.name);
    Refusal::new(StatusCode::NOT_FOUND, "model_not_found", message).answer(Protocol::OpenAi)
}

async fn unknown(request: Request) -> Response {
    let path = request.uri().path();
    let message = format!(
        "there is nothing at {path}; there are /v1/chat/completions, /v1/responses, /v1/messages, /v1/models and /health"
    );
    Refusal::new(StatusCode::NOT_FOUND, "not_found", message).answer(protocol_of(path))
}

async fn not_allowed(request: Request) -> Response {
    let message = format!("{} is not answered there", request.method());
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        message,
    )
    .answer(protocol_of(request.uri().path()))
}

async fn answer(server: Arc<Server>, protocol: Protocol, request: Request) -> Response {
    let id = server.next_id(protocol);
    match server.reply(&id, protocol, request).await {
        Ok(response) => response,
        Err(refusal) => {
            if refusal.status.is_server_error() {
                (server.tell)(Notice::Refused {
                    id,
                    why: refusal.message.clone(),
                });
            }
            refusal.answer(protocol)
        }
    }
}

impl Server {
    fn next_id(&self, protocol: Protocol) -> String {
        let kind = match protocol {
            Protocol::Responses => "resp",
            Protocol::Anthropic => "msg",
            _ => "chatcmpl",
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        format!("{kind}-{:x}-{number}", self.begun)
    }

    fn described(&self) -> Value {
        object([
            ("id", Value::from(self.model.name.as_str())),
            ("object", Value::from("model")),
            ("created", Value::Int(Integer::from(seconds(self.begun)))),
            ("owned_by", Value::from("obverse")),
        ])
    }

    async fn reply(
        self: &Arc<Self>,
        id: &str,
        protocol: Protocol,
        request: Request,
    ) -> Result<Response, Refusal> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let most = self.config.limits.exchanges;
            let message =
                format!("{most} requests are answered at the same time, and there are so many");
            return Err(Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                message,
            ));
        };
        let body = self.body(request).await?;
        let turn = Turn::read(protocol, &body)?;
        drop(body);
        // A chat template may take its time, in which others are to be served; so may a grammar.
        let (server, mut rendered) = (Arc::clone(self), turn);
        let rendered = tokio::task::spawn_blocking(move || {
            let prompt = server.render(&rendered)?;
            let open = match &server.model.constraint {
                Some(constraint) => constraint.add(&mut rendered, &prompt)?,
                None => {
                    constrain::refuse(&rendered)?;
                    Vec::new()
                }
            };
            Ok((rendered, prompt, open))
        });
        let (turn, prompt, open) = rendered.await.map_err(|error| {
            let message = format!("the prompt was not rendered: {error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "prompt", message)
        })??;
        for finding in open {
            (self.tell)(Notice::Open {
                id: id.to_owned(),
                what: finding.text,
            });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let setting = Setting {
            id: id.to_owned(),
            created: now.map_or(0, |now| seconds(now.as_millis())),
            protocol,
            model: &self.model,
            config: &self.config,
            recorder: self.recorder.as_ref(),
            tell: Arc::clone(&self.tell),
        };
        let mut exchange = Exchange::new(setting, &turn, &prompt)?;
        let asked = self.upstream.write(&prompt, &turn.writing, &self.config);
        let pieces = match asked.await {
            Ok(pieces) => pieces,
            Err(refusal) => {
                exchange.refuse();
                return Err(refusal);
            }
        };
        let reply = Reply::new(exchange, pieces, place);
        match turn.stream {
            true => Ok(reply.stream()),
            false => reply.whole().await,
        }
    }

    /// The body of a request. What is not declared as JSON is not taken: a page of some other site can send that without asking.
    async fn body(&self, request: Request<Body>) -> Result<axum::body::Bytes, Refusal> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let message = "the request's content-type must be application/json";
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "content_type",
                message,
            ));
        }
        let limit = self.config.limits.request_bytes;
        let too_long = || {
            let message = format!("the request is longer than {limit} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", message)
        };
        let declared = request.headers().get(header::CONTENT_LENGTH);
        let declared = declared.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if declared.is_some_and(|length| length > limit) {
            return Err(too_long());
        }
        match timeout(ARRIVING, to_bytes(request.into_body(), limit)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(_)) if declared.is_none() => Err(too_long()),
            Ok(Err(error)) => Err(Refusal::request(format!("the request broke off: {error}"))),
            Err(_) => {
                let message = "the request takes too long to arrive";
                Err(Refusal::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "too_slow",
                    message,
                ))
            }
        }
    }

    fn render(&self, turn: &Turn) -> Result<String, Refusal> {
        let refused = |why: String| {
            let message = format!("the chat template does not render the conversation: {why}");
            Refusal::request(message).about("messages")
        };
        let template = self.model.chat.select(!turn.tools.is_empty());
        let template = template.map_err(|error| refused(error.to_string()))?;
        let input = RenderInput {
            messages: turn.messages(self.model.manner),
            tools: (!turn.tools.is_empty()).then(|| turn.tools.clone()),
            add_generation_prompt: true,
            kwargs: turn.kwargs.clone(),
            clock: self.model.clock,
            rules: self.model.manner.rules,
            ..RenderInput::default()
        };
        template
            .render(&input)
            .map_err(|error| refused(error.to_string()))
    }
}

fn seconds(milliseconds: u128) -> i64 {
    i64::try_from(milliseconds / 1000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_s_names_are_local() {
        let local = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            is_local(&headers)
        };
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(local(host), "{host}");
        }
        for host in [
            "example.org",
            "localhost.example.org:80",
            "10.0.0.1",
            "",
            "127.0.0.1.example.org",
        ] {
            assert!(!local(host), "{host}");
        }
    }

    #[test]
    fn keys_are_compared_whole() {
        assert!(same("abc", "abc"));
        for other in ["", "ab", "abd", "abcd"] {
            assert!(!same(other, "abc"), "{other}");
        }
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "bearer  k".parse().unwrap());
        assert_eq!(shown_key(&headers), Some("k"));
        headers.insert("authorization", "Basic k".parse().unwrap());
        assert_eq!(shown_key(&headers), None);
        headers.insert("x-api-key", "k".parse().unwrap());
        assert_eq!(shown_key(&headers), Some("k"));
    }
}
