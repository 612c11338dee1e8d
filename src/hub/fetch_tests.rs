//! Fetching over a transport that keeps a script: retries, pauses and limits without a network or a clock.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::Mutex;
use std::time::Duration;

use super::cache::{Cache, Wanted, is_complete};
use super::error::FetchError;
use super::fetch::Hub;
use super::settings::HubSettings;
use super::transport::{HubAnswer, HubRequest, Pause, Transport, Unreachable, UnreachableKind};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Answers that come in their order, and what was asked and waited for.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<HubAnswer, Unreachable>>>,
    asked: Mutex<Vec<String>>,
    pauses: Mutex<Pauses>,
}

impl Transport for Script {
    fn get(&self, request: &HubRequest<'_>) -> Result<HubAnswer, Unreachable> {
        let mut asked = self.asked.lock().expect("not poisoned");
        asked.push(request.url.to_owned());
        let mut answers = self.answers.lock().expect("not poisoned");
        answers.pop_front().expect("an answer")
    }

    fn pause(&self, pause: &Pause) {
        let mut pauses = self.pauses.lock().expect("not poisoned");
        pauses.push((pause.length.as_secs(), pause.is_asked_for));
    }
}

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Result<HubAnswer, Unreachable> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let body = Cursor::new(body.to_owned().into_bytes());
    Ok(HubAnswer::new(
        status,
        headers.iter().map(owned).collect(),
        Box::new(body),
    ))
}

fn listing(files: &str) -> Result<HubAnswer, Unreachable> {
    answer(
        200,
        &[],
        &format!(r#"{{"id": "a/b", "sha": "{COMMIT}", "siblings": [{files}]}}"#),
    )
}

/// The lengths of pauses in seconds, and whether they were asked for.
type Pauses = Vec<(u64, bool)>;

/// The outcome of fetching `a/b`, with the addresses that were asked for and the pauses between.
fn fetched(
    answers: Vec<Result<HubAnswer, Unreachable>>,
) -> (Result<bool, FetchError>, Vec<String>, Pauses) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Script {
        answers: Mutex::new(answers.into()),
        ..Script::default()
    };
    let hub = Hub::new(HubSettings::default(), Cache::at(folder.path()), &script);
    let id = "a/b".parse().expect("a model");
    let done = hub.fetch(&id, Wanted::ChatTemplates);
    let done = done.map(|fetched| is_complete(&fetched.snapshot, Wanted::ChatTemplates));
    drop(hub);
    let Script { asked, pauses, .. } = script;
    let asked = asked.into_inner().expect("not poisoned");
    (done, asked, pauses.into_inner().expect("not poisoned"))
}

#[test]
fn what_the_hub_has_is_fetched() {
    let file = r#"{"rfilename": "chat_template.jinja", "size": 3, "blobId": "aa"}"#;
    let tagged = [("etag", "W/\"aa\""), ("x-repo-commit", COMMIT)];
    let (done, asked, pauses) = fetched(vec![listing(file), answer(200, &tagged, "abc")]);
    assert_eq!(done, Ok(true));
    assert_eq!(
        asked,
        [
            "https://huggingface.co/api/models/a/b/revision/main?blobs=true".to_owned(),
            format!("https://huggingface.co/a/b/resolve/{COMMIT}/chat_template.jinja"),
        ]
    );
    assert_eq!(pauses, []);
}

#[test]
fn failures_that_may_pass_are_waited_for_so_many_times() {
    let failing = || answer(503, &[], "");
    let (done, _, pauses) = fetched(vec![failing(), failing(), listing("")]);
    assert_eq!(done, Ok(true));
    assert_eq!(pauses, [(1, false), (2, false)]);
    let (done, asked, pauses) = fetched(vec![failing(), failing(), failing(), failing()]);
    let server = matches!(
        done,
        Err(FetchError::Server {
            status: 503,
            tries: 4,
            ..
        })
    );
    assert!(server, "{done:?}");
    assert_eq!((asked.len(), pauses.len()), (4, 3));
}

#[test]
fn pauses_are_those_that_the_hub_asks_for_within_reason() {
    let retry = |after: &str| answer(429, &[("retry-after", after)], "");
    let window = |left: &str| answer(429, &[("RateLimit", left)], "");
    let (done, _, pauses) = fetched(vec![retry("7"), window("\"api\";r=0;t=55"), listing("")]);
    assert_eq!(done, Ok(true));
    assert_eq!(pauses, [(7, true), (55, true)]);
    let (done, asked, pauses) = fetched(vec![retry("61")]);
    let after = Some(Duration::from_secs(61));
    assert_eq!(done, Err(FetchError::RateLimited { after }));
    assert_eq!((asked.len(), pauses.len()), (1, 0));
    // Who has requests left is not told when the window ends.
    let (_, _, pauses) = fetched(vec![window("\"api\";r=3;t=55"), listing("")]);
    assert_eq!(pauses, [(1, false)]);
}

#[test]
fn connections_that_break_off_are_tried_again_and_others_are_not() {
    struct Breaks;
    impl Read for Breaks {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let broken = || Ok(HubAnswer::new(200, Vec::new(), Box::new(Breaks)));
    let none = |kind| Err(Unreachable::new(kind, "because"));
    let (done, _, pauses) = fetched(vec![broken(), none(UnreachableKind::Silent), listing("")]);
    assert_eq!((done, pauses.len()), (Ok(true), 2));
    for kind in [UnreachableKind::NoWay, UnreachableKind::Distrusted] {
        let (done, asked, _) = fetched(vec![none(kind)]);
        assert!(
            matches!(done, Err(FetchError::Unreachable { .. })),
            "{done:?}"
        );
        assert_eq!(asked.len(), 1);
    }
}

#[test]
fn a_redirect_may_not_give_up_encryption() {
    let to = |target: &str| answer(302, &[("Location", target)], "");
    let (done, ..) = fetched(vec![to("http://huggingface.co/api/x")]);
    assert!(matches!(done, Err(FetchError::Strange { .. })), "{done:?}");
    let (done, asked, _) = fetched(vec![to("https://mirror.example/x"), listing("")]);
    assert_eq!(
        (done, asked[1].as_str()),
        (Ok(true), "https://mirror.example/x")
    );
}

#[test]
fn what_is_announced_to_be_too_large_is_not_read() {
    struct Unread;
    impl Read for Unread {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            unreachable!("the length says enough")
        }
    }
    let headers = vec![("Content-Length".to_owned(), "99999999999".to_owned())];
    let (done, ..) = fetched(vec![Ok(HubAnswer::new(200, headers, Box::new(Unread)))]);
    assert!(matches!(done, Err(FetchError::TooLarge { .. })), "{done:?}");
}
