//! Refusals: the answers to clients whose requests are not fulfilled.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::deltas::encode::Protocol;
use crate::value::{Key, Map, Value, json};

/// The reason why a client gets no answer, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// The member of the request that is at fault.
    pub(super) param: Option<String>,
    /// A name for programs.
    pub(super) code: &'static str,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            param: None,
            code,
        }
    }

    /// Refuses a request that cannot be answered.
    pub(super) fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// Refuses a request for something that the server does not have.
    pub(super) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "unsupported", message).about(param)
    }

    /// Says that the upstream is at fault.
    pub(super) fn upstream(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, code, message)
    }

    pub(super) fn about(mut self, param: &str) -> Self {
        self.param = Some(param.to_owned());
        self
    }

    /// The kinds of errors that the protocols' clients tell apart.
    fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        }
    }

    /// The error as an object of the protocol.
    pub(super) fn body(&self, protocol: Protocol) -> Value {
        let text = |text: &str| Value::from(text);
        if protocol == Protocol::Anthropic {
            let error = object([
                ("type", text(self.kind())),
                ("message", text(&self.message)),
            ]);
            return object([("type", text("error")), ("error", error)]);
        }
        let param = self.param.as_deref().map_or(Value::Null, Value::from);
        let error = object([
            ("message", text(&self.message)),
            ("type", text(self.kind())),
            ("param", param.clone()),
            ("code", text(self.code)),
        ]);
        if protocol == Protocol::Responses {
            // Responses have an event for errors; who reads it as Chat Completions' finds theirs in it.
            return object([
                ("type", text("error")),
                ("code", text(self.code)),
                ("message", text(&self.message)),
                ("param", param),
                ("error", error),
            ]);
        }
        object([("error", error)])
    }

    /// The answer to a request.
    pub(super) fn answer(&self, protocol: Protocol) -> Response {
        let mut response = json_answer(self.status, &self.body(protocol));
        if self.status == StatusCode::TOO_MANY_REQUESTS
            || self.status == StatusCode::SERVICE_UNAVAILABLE
        {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        response
    }
}

/// An answer that is JSON.
pub(super) fn json_answer(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(json::Format::compact().write(value)));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members
        .into_iter()
        .map(|(key, value)| (Key::from(key), value));
    Value::Object(members.collect::<Map>())
}
