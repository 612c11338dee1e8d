//! `obverse serve` while it runs, and a client without any library.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use obverse::value::{Value, json};

pub(super) struct Server {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub(super) address: String,
    /// The lines on standard error before it served.
    pub(super) begun_with: Vec<String>,
    told: Mutex<Receiver<String>>,
}

/// What a client got.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Server {
    /// Starts it in a folder.
    pub(super) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_by(
            &mut Command::new(env!("CARGO_BIN_EXE_obverse")),
            folder,
            arguments,
        )
    }

    /// Starts it in a shell that has done this before, such as `ulimit -n 100`.
    pub(super) fn start_limited(before: &str, folder: &Path, arguments: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        let script = format!("{before} && exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_obverse")]);
        Self::start_by(&mut shell, folder, arguments)
    }

    fn start_by(command: &mut Command, folder: &Path, arguments: &[&str]) -> Self {
        let mut child = command
            .current_dir(folder)
            .args(["serve", "--listen", "127.0.0.1:0", "-v"])
            .args(arguments)
            .env_remove("OBVERSE_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, told) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            child,
            address: String::new(),
            begun_with: Vec::new(),
            told: Mutex::new(told),
        };
        let (before, line) = server.told_until(" at http://");
        server.begun_with = before;
        let (_, rest) = line.split_once(" at http://").expect("an address");
        rest.split('/')
            .next()
            .expect("an address")
            .clone_into(&mut server.address);
        server
    }

    /// The next line on standard error that has this in it.
    pub(super) fn told_about(&self, what: &str) -> String {
        self.told_until(what).1
    }

    /// The next line on standard error that has this in it, and those before it.
    fn told_until(&self, what: &str) -> (Vec<String>, String) {
        let limit = Instant::now() + Duration::from_secs(60);
        let mut seen = Vec::new();
        let told = self.told.lock().expect("no test has panicked with it");
        loop {
            let left = limit.saturating_duration_since(Instant::now());
            match told.recv_timeout(left) {
                Ok(line) if line.contains(what) => return (seen, line),
                Ok(line) => seen.push(line),
                Err(_) => panic!("nothing was told about {what:?}, but {seen:?}"),
            }
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sends a request and leaves the connection open.
    pub(super) fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut connection = TcpStream::connect(&self.address).expect("the server listens");
        let limit = Some(Duration::from_secs(60));
        connection.set_read_timeout(limit).expect("a timeout");
        let host = if headers.contains("Host:") {
            ""
        } else {
            "Host: localhost\r\n"
        };
        let kind = if headers.contains("Content-Type:") {
            ""
        } else {
            "Content-Type: application/json\r\n"
        };
        let length = body.len();
        write!(connection, "{method} {path} HTTP/1.1\r\n{host}{kind}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}").expect("the server reads");
        connection
    }

    /// Sends a request and reads the whole answer.
    pub(super) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut text = String::new();
        self.open(method, path, headers, body)
            .read_to_string(&mut text)
            .expect("an answer");
        Answer::of(&text)
    }

    pub(super) fn chat(&self, body: &str) -> Answer {
        self.send("POST", "/v1/chat/completions", "", body)
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a termination, and gives its exit status.
    pub(super) fn end(&mut self) -> Option<i32> {
        let killed = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(killed.expect("kill runs").success());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(super) fn of(text: &str) -> Self {
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
        let status = head
            .split(' ')
            .nth(1)
            .expect("a status")
            .parse()
            .expect("a number");
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Self {
            status,
            head: head.to_owned(),
            body: if is_chunked {
                unchunked(rest)
            } else {
                rest.to_owned()
            },
        }
    }

    pub(super) fn json(&self) -> Value {
        json::parse(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The message of the error.
    pub(super) fn error(&self) -> String {
        let answer = self.json();
        let message = answer
            .get("error")
            .and_then(|error| error.get("message")?.as_str());
        message
            .unwrap_or_else(|| panic!("no error: {self:?}"))
            .to_owned()
    }

    /// The data of the events of a stream.
    pub(super) fn events(&self) -> Vec<&str> {
        self.body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .collect()
    }
}

fn unchunked(mut text: &str) -> String {
    let mut all = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        let Some(chunk) = rest.get(..size) else {
            return all + rest;
        };
        all.push_str(chunk);
        text = rest[size..].trim_start_matches("\r\n");
    }
    all
}
