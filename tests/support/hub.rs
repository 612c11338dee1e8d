//! A Hub for tests, on this machine: it speaks the paths by which a model's files are listed and had, as far as its clients use them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// The commit of every model, where it says no other one.
pub const COMMIT: &str = "89abcdef0123456789abcdef0123456789abcdef";

/// A model: its files by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A request that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    pub path: String,
    /// The token that it showed.
    pub token: Option<String>,
}

/// An answer: status, headers, body.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

/// What follows the headers.
#[derive(Debug, Clone)]
pub enum Body {
    Whole(Vec<u8>),
    /// Less than was announced, and the connection is closed.
    Broken,
    /// It does not end.
    Endless,
}

impl Reply {
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            status,
            headers: headers.iter().map(owned).collect(),
            body: Body::Whole(body.into()),
        }
    }

    /// A refusal, with the Hub's word for it.
    pub fn refusal(status: u16, code: &str) -> Self {
        let message = format!("refused: {code}");
        let headers = [("X-Error-Code", code), ("X-Error-Message", &message)];
        Self::new(status, &headers, r#"{"error": "refused"}"#)
    }
}

/// What is said otherwise than the Hub would, if anything.
type Otherwise = dyn Fn(&Asked, usize) -> Option<Reply> + Send + Sync;

struct Shared {
    models: Mutex<BTreeMap<String, Files>>,
    otherwise: Box<Otherwise>,
    asked: Mutex<Vec<Asked>>,
    /// Where large files are, which is another host than the Hub's.
    elsewhere: String,
    asked_elsewhere: Mutex<Vec<Asked>>,
}

/// The server. It ends with the process.
#[derive(Clone)]
pub struct FakeHub {
    pub url: String,
    shared: Arc<Shared>,
}

/// A model with these files.
pub fn files<'f>(files: impl IntoIterator<Item = (&'f str, String)>) -> Files {
    let files = files.into_iter();
    files
        .map(|(name, text)| (name.to_owned(), text.into_bytes()))
        .collect()
}

/// The tag of a content, as long as the Hub's are. Those of large files, which have `large` in their names, are longer.
pub fn etag(name: &str, content: &[u8]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in content {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let length = if is_large(name) { 64 } else { 40 };
    format!("{hash:016x}").repeat(4)[..length].to_owned()
}

fn is_large(name: &str) -> bool {
    name == "tokenizer.json"
}

impl FakeHub {
    pub fn new<'m>(models: impl IntoIterator<Item = (&'m str, Files)>) -> Self {
        Self::saying(models, |_, _| None)
    }

    /// The same with answers of its own; the number is how often that path was asked for before.
    pub fn saying<'m>(
        models: impl IntoIterator<Item = (&'m str, Files)>,
        otherwise: impl Fn(&Asked, usize) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = |listener: &TcpListener| {
            format!("http://{}", listener.local_addr().expect("an address"))
        };
        let models = models.into_iter();
        let shared = Arc::new(Shared {
            models: Mutex::new(
                models
                    .map(|(name, files)| (name.to_owned(), files))
                    .collect(),
            ),
            otherwise: Box::new(otherwise),
            asked: Mutex::default(),
            elsewhere: url(&elsewhere),
            asked_elsewhere: Mutex::default(),
        });
        let hub = Self {
            url: url(&listener),
            shared,
        };
        hub.clone().serve(listener, Self::answer);
        hub.clone().serve(elsewhere, Self::answer_elsewhere);
        hub
    }

    /// Gives a model other files.
    pub fn set(&self, model: &str, files: Files) {
        let mut models = self.shared.models.lock().expect("not poisoned");
        models.insert(model.to_owned(), files);
    }

    /// The paths that were asked for since the last time, in order.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked.lock().expect("not poisoned"))
    }

    /// The requests that came to the other host.
    pub fn asked_elsewhere(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked_elsewhere.lock().expect("not poisoned"))
    }

    fn serve(self, listener: TcpListener, answer: fn(&Self, Asked) -> Reply) {
        thread::spawn(move || {
            for connection in listener.incoming() {
                let hub = self.clone();
                thread::spawn(move || {
                    if let Ok(connection) = connection {
                        hub.exchange(connection, answer);
                    }
                });
            }
        });
    }

    fn exchange(&self, connection: TcpStream, answer: fn(&Self, Asked) -> Reply) {
        let mut reading = BufReader::new(connection.try_clone().expect("a handle"));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reading.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let mut words = head.split(' ').map(str::to_owned);
        let (method, path) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let token = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let token = value.strip_prefix("Bearer ")?;
            name.eq_ignore_ascii_case("authorization")
                .then(|| token.to_owned())
        });
        let is_head = method == "HEAD";
        let reply = answer(
            self,
            Asked {
                method,
                path,
                token,
            },
        );
        let mut writing = connection;
        let mut out = format!("HTTP/1.1 {} Told\r\nConnection: close\r\n", reply.status);
        for (name, value) in &reply.headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        // Whoever has read enough goes away, which is no failure of the server's.
        let _ = match &reply.body {
            Body::Whole(body) => {
                out.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
                let body: &[u8] = if is_head { b"" } else { body };
                writing
                    .write_all(out.as_bytes())
                    .and_then(|()| writing.write_all(body))
            }
            Body::Broken => {
                out.push_str("Content-Length: 1000\r\n\r\nabc");
                writing.write_all(out.as_bytes())
            }
            Body::Endless => {
                out.push_str("\r\n");
                let mut written = writing.write_all(out.as_bytes());
                while written.is_ok() {
                    written = writing.write_all(&[b' '; 1 << 16]);
                }
                written
            }
        };
        // What the client has still to say is let come, so that it is not cut off before it has read the answer.
        let _ = writing.shutdown(std::net::Shutdown::Write);
        let _ = reading.read(&mut [0; 64]);
    }

    fn answer(&self, asked: Asked) -> Reply {
        let before = {
            let mut all = self.shared.asked.lock().expect("not poisoned");
            let before = all.iter().filter(|one| one.path == asked.path).count();
            all.push(asked.clone());
            before
        };
        let own = (self.shared.otherwise)(&asked, before);
        own.unwrap_or_else(|| self.as_the_hub(&asked.path))
    }

    fn as_the_hub(&self, path: &str) -> Reply {
        let path = path.split('?').next().unwrap_or_default();
        let steps: Vec<&str> = path.trim_start_matches('/').splitn(6, '/').collect();
        let models = self.shared.models.lock().expect("not poisoned");
        let model = |owner: &str, name: &str| models.get(&format!("{owner}/{name}"));
        let is_known = |revision: &str| ["main", "refs%2Fpr%2F1", COMMIT].contains(&revision);
        match steps.as_slice() {
            ["api", "models", owner, name, "revision", revision] => match model(owner, name) {
                None => Reply::refusal(401, "RepoNotFound"),
                Some(_) if !is_known(revision) => Reply::refusal(404, "RevisionNotFound"),
                Some(files) => {
                    let listing = listing(&format!("{owner}/{name}"), files);
                    Reply::new(
                        200,
                        &[("Content-Type", "application/json")],
                        listing.to_string(),
                    )
                }
            },
            ["api", "resolve-cache", "models", owner, name, rest] => {
                let file = rest
                    .split_once('/')
                    .and_then(|(_, file)| model(owner, name)?.get_key_value(file));
                file.map_or_else(
                    || Reply::refusal(404, "EntryNotFound"),
                    |(name, content)| {
                        let tag = format!("\"{}\"", etag(name, content));
                        Reply::new(
                            200,
                            &[("ETag", &tag), ("X-Repo-Commit", COMMIT)],
                            content.clone(),
                        )
                    },
                )
            }
            [owner, name, "resolve", rest @ ..] => {
                let rest = rest.join("/");
                let (revision, file) = rest.split_once('/').unwrap_or((&rest, ""));
                match model(owner, name) {
                    None => Reply::refusal(401, "RepoNotFound"),
                    Some(_) if !is_known(revision) => Reply::refusal(404, "RevisionNotFound"),
                    Some(files) => match files.get(file) {
                        None => Reply {
                            headers: [("X-Error-Code", "EntryNotFound"), ("X-Repo-Commit", COMMIT)]
                                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                                .to_vec(),
                            ..Reply::new(404, &[], "")
                        },
                        // As on the real one, small files come from another path, and large ones from another host.
                        Some(content) => {
                            let tag = format!("\"{}\"", etag(file, content));
                            let target = match is_large(file) {
                                true => format!("{}/{owner}/{name}/{file}", self.shared.elsewhere),
                                false => format!(
                                    "/api/resolve-cache/models/{owner}/{name}/{COMMIT}/{file}"
                                ),
                            };
                            let size = content.len().to_string();
                            let headers = [
                                ("Location", target.as_str()),
                                ("X-Linked-Etag", &tag),
                                ("X-Linked-Size", &size),
                                ("X-Repo-Commit", COMMIT),
                            ];
                            Reply::new(if is_large(file) { 302 } else { 307 }, &headers, "")
                        }
                    },
                }
            }
            _ => Reply::new(404, &[], "nothing"),
        }
    }

    fn answer_elsewhere(&self, asked: Asked) -> Reply {
        let path = asked.path.clone();
        self.shared
            .asked_elsewhere
            .lock()
            .expect("not poisoned")
            .push(asked);
        let steps: Vec<&str> = path.trim_start_matches('/').splitn(3, '/').collect();
        let models = self.shared.models.lock().expect("not poisoned");
        let content = match steps.as_slice() {
            [owner, name, file] => models
                .get(&format!("{owner}/{name}"))
                .and_then(|files| files.get(*file)),
            _ => None,
        };
        match content {
            // Its tags are not the Hub's.
            Some(content) => Reply::new(200, &[("ETag", "\"of-the-other-host\"")], content.clone()),
            None => Reply::new(404, &[], ""),
        }
    }
}

/// What the Hub tells of a model.
pub fn listing(name: &str, files: &Files) -> Value {
    let siblings = files.iter().map(|(name, content)| {
        let mut sibling = json!({"rfilename": name, "size": content.len()});
        sibling["blobId"] = etag("", content).into();
        if is_large(name) {
            sibling["lfs"] =
                json!({"sha256": etag(name, content), "size": content.len(), "pointerSize": 134});
        }
        sibling
    });
    json!({"_id": "1", "id": name, "modelId": name, "sha": COMMIT, "private": false, "gated": false,
        "siblings": siblings.collect::<Vec<_>>()})
}
