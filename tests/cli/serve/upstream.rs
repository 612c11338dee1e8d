//! A server that writes raw completions, as a test tells it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use obverse::value::{Value, json};
use socket2::{Domain, Socket, Type};

/// What it does, one after the other.
#[derive(Debug, Clone)]
pub(super) enum Does {
    /// Begins a stream of events.
    Begin,
    /// Sends a text in an event.
    Text(String),
    /// Ends the text for this reason, with a usage, as it should.
    End(&'static str),
    /// Sends these bytes.
    Raw(String),
    /// Waits for so many milliseconds; forever, if the client stays, with a large number.
    Wait(u64),
    /// Waits until all have come there.
    Meet(Arc<Meeting>),
}

/// A place where so many meet, again and again. Unlike a barrier of the standard library's it does not wait forever for one that has
/// failed.
#[derive(Debug)]
pub(super) struct Meeting {
    count: usize,
    /// How many are there, and how many meetings there were.
    state: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl Meeting {
    pub(super) fn of(count: usize) -> Arc<Self> {
        Arc::new(Self {
            count,
            state: Mutex::new((0, 0)),
            changed: Condvar::new(),
        })
    }

    /// Waits until all are there, and tells whether they came.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.state.lock().expect("nobody panics with it");
        state.0 += 1;
        if state.0 == self.count {
            *state = (0, state.1 + 1);
            self.changed.notify_all();
            return true;
        }
        let meeting = state.1;
        let limit = Instant::now() + Duration::from_secs(50);
        while state.1 == meeting {
            let left = limit.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect("nobody panics with it").0;
        }
        true
    }
}

pub(super) struct Fake {
    pub(super) url: String,
    /// What it was asked for.
    pub(super) asked: Receiver<Value>,
    /// Told for each client that left before the end.
    pub(super) left: Receiver<()>,
}

/// A stream with the response in these chunks.
pub(super) fn response<'c>(chunks: impl IntoIterator<Item = &'c str>) -> Vec<Does> {
    let mut all = vec![Does::Begin];
    all.extend(chunks.into_iter().map(|chunk| Does::Text(chunk.to_owned())));
    all.push(Does::End("stop"));
    all
}

/// What is done for the body of a request.
type Script = dyn Fn(&Value) -> Vec<Does> + Send + Sync;

impl Fake {
    /// Answers as `script` says to a request's body.
    pub(super) fn new(script: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Self {
        let listener = listen().expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (asked_sender, asked) = mpsc::channel();
        let (left_sender, left) = mpsc::channel();
        let script: Arc<Script> = Arc::new(script);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let connection = connection.expect("a client");
                let (script, asked) = (Arc::clone(&script), asked_sender.clone());
                let left = left_sender.clone();
                let thread = thread::Builder::new().stack_size(256 << 10);
                thread
                    .spawn(move || serve(connection, &*script, &asked, &left))
                    .expect("a thread");
            }
        });
        Self { url, asked, left }
    }

    /// The body of the next request.
    pub(super) fn asked(&self) -> Value {
        let waited = self.asked.recv_timeout(Duration::from_secs(20));
        waited.expect("the upstream is asked")
    }
}

/// With room for a thousand that come at once, where the standard library's listener has room for 128.
fn listen() -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}

fn serve(
    connection: TcpStream,
    script: &dyn Fn(&Value) -> Vec<Does>,
    asked: &Sender<Value>,
    left: &Sender<()>,
) {
    let mut reading = BufReader::new(connection.try_clone().expect("a handle"));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reading.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut writing = connection;
    if head.starts_with("GET") {
        let list = r#"{"object": "list", "data": [{"id": "upstream-model"}]}"#;
        let length = list.len();
        let _ = write!(
            writing,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{list}"
        );
        return;
    }
    let length = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, length)| length.parse().expect("a number"));
    let mut body = vec![0; length];
    reading.read_exact(&mut body).expect("the body");
    let body = json::parse(std::str::from_utf8(&body).expect("UTF-8")).expect("JSON");
    let script = script(&body);
    // Not every test asks.
    let _ = asked.send(body);
    for does in script {
        let event = |text: &str, finish: &str| {
            let text = json::quote(text);
            format!(
                "data: {{\"choices\": [{{\"index\": 0, \"text\": {text}, \"finish_reason\": {finish}}}]}}\n\n"
            )
        };
        let bytes = match does {
            Does::Begin => {
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                    .to_owned()
            }
            Does::Text(text) => event(&text, "null"),
            Does::End(reason) => {
                event("", &json::quote(reason))
                    + "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 5, \"total_tokens\": 12}}\n\ndata: [DONE]\n\n"
            }
            Does::Raw(bytes) => bytes,
            Does::Meet(meeting) => {
                if !meeting.wait() {
                    return;
                }
                continue;
            }
            Does::Wait(milliseconds) => {
                let limit = Duration::from_millis(milliseconds);
                writing.set_read_timeout(Some(limit)).expect("a timeout");
                // Whoever leaves closes the connection, which ends the wait.
                if let Ok(0) = reading.read(&mut [0; 16]) {
                    let _ = left.send(());
                    return;
                }
                continue;
            }
        };
        if writing
            .write_all(bytes.as_bytes())
            .and_then(|()| writing.flush())
            .is_err()
        {
            let _ = left.send(());
            return;
        }
    }
}
