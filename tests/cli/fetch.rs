//! Models that are fetched from a Hub, which is one of the tests' own: what is asked for, what is kept, and what is told when nothing comes.

use std::process::{Child, Stdio};

use serde_json::json;

use crate::bench::{Bench, CHAT, Run, binary};
use crate::support::hub::{Asked, Body, COMMIT, FakeHub, Files, Reply, files};

/// The files of a model whose chat template stands in its configuration, and more that nobody needs.
pub(crate) fn model() -> Files {
    let config = json!({"chat_template": CHAT, "eos_token": "</s>", "added_tokens_decoder": {}});
    files([
        ("tokenizer_config.json", config.to_string()),
        (
            "generation_config.json",
            r#"{"eos_token_id": 2}"#.to_owned(),
        ),
        ("tokenizer.json", r#"{"added_tokens": []}"#.to_owned()),
        ("config.json", "{}".to_owned()),
        ("model.safetensors", "x".repeat(1000)),
    ])
}

/// Runs the binary with a Hub, and arguments that have no spaces.
pub(crate) fn run(bench: &Bench, hub: &FakeHub, arguments: &str) -> Run {
    run_with(bench, hub, arguments, &[])
}

fn run_with(bench: &Bench, hub: &FakeHub, arguments: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = bench.command();
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_ENDPOINT", &hub.url)
        .env("HF_HOME", bench.path("hf"))
        .envs(variables.iter().copied());
    Run::of(command.args(arguments.split(' ')))
}

/// Starts the binary with a Hub, and does not wait for its end.
pub(crate) fn started(bench: &Bench, hub: &FakeHub, arguments: &str) -> Child {
    std::process::Command::new(binary())
        .current_dir(bench.path("."))
        .args(arguments.split(' '))
        .env("HF_ENDPOINT", &hub.url)
        .env("HF_HOME", bench.path("hf"))
        .env("NO_PROXY", "*")
        .env_remove("HF_HUB_CACHE")
        .env_remove("HF_HUB_OFFLINE")
        .env_remove("HF_TOKEN")
        .env_remove("TRANSFORMERS_OFFLINE")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// The last step of each path that was asked for, without what stands behind a question mark.
fn names(asked: &[Asked]) -> Vec<&str> {
    let name = |asked: &'_ Asked| {
        let at = asked.path.rfind('/').map_or(0, |at| at + 1);
        let end = asked.path.find('?').unwrap_or(asked.path.len());
        at..end
    };
    asked.iter().map(|asked| &asked.path[name(asked)]).collect()
}

/// The paths of files that were asked for.
fn names_of_files(asked: &[Asked]) -> Vec<&str> {
    let paths = asked.iter().map(|asked| asked.path.as_str());
    paths.filter(|path| path.contains("/resolve/")).collect()
}

/// The paths that were asked for which no redirect had named.
fn first_hand(asked: Vec<Asked>) -> Vec<Asked> {
    let is_one = |asked: &Asked| !asked.path.starts_with("/api/resolve-cache/");
    asked.into_iter().filter(is_one).collect()
}

/// What people were told, as one line, without what shows a place.
fn flat(run: &Run) -> String {
    let lines = run.stderr.lines();
    let words = lines.map(|line| line.trim_start_matches([' ', '|', '=']));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_model_is_fetched_once_and_found_then() {
    let bench = Bench::new();
    let hub = FakeHub::new([("org/Model-1.5", model())]);
    let derived = run(&bench, &hub, "derive --out-dir out org/Model-1.5");
    assert_eq!(derived.status, 0, "{derived}");
    assert_eq!(
        bench.list("out"),
        ["Model-1.5.json", "Model-1.5.report.json"]
    );
    let asked = first_hand(hub.asked());
    assert_eq!(
        names(&asked),
        ["main", "generation_config.json", "tokenizer_config.json"]
    );
    assert!(
        asked
            .iter()
            .all(|asked| asked.method == "GET" && asked.token.is_none())
    );
    // A file is a link to a content that is named after its tag, as the client has it.
    let model = bench.path("hf/hub/models--org--Model-1.5");
    let config = model
        .join("snapshots")
        .join(COMMIT)
        .join("tokenizer_config.json");
    #[cfg(unix)]
    assert!(
        std::fs::read_link(&config)
            .expect("a link")
            .starts_with("../../blobs")
    );
    assert!(config.is_file());
    assert_eq!(
        bench.read("hf/hub/models--org--Model-1.5/refs/main"),
        COMMIT
    );
    let absent = model
        .join(".no_exist")
        .join(COMMIT)
        .join("chat_template.jinja");
    assert!(absent.is_file());
    for verb in [
        "inspect",
        "derive",
        "annotate",
        "derive --conversation",
        "lint",
    ] {
        for name in [
            "org/Model-1.5".to_owned(),
            format!("org/Model-1.5@{COMMIT}"),
        ] {
            let again = run(&bench, &hub, &format!("{verb} {name}"));
            assert!(again.status < 2, "{verb}: {again}");
        }
    }
    let offline = run_with(
        &bench,
        &hub,
        "derive org/Model-1.5",
        &[("HF_HUB_OFFLINE", "1")],
    );
    assert_eq!(offline.status, 0, "{offline}");
    assert_eq!(hub.asked(), [], "all is in the cache");
    let request = run(&bench, &hub, "derive org/Model-1.5@refs/pr/1");
    assert_eq!(request.status, 0, "{request}");
    // The contents are known by their tags.
    assert_eq!(names(&hub.asked()), ["refs%2Fpr%2F1"]);
}

#[test]
fn the_files_are_those_that_a_model_folder_is_read_from() {
    let template = || CHAT.to_owned();
    let bare = || r#"{"bos_token": "<s>"}"#.to_owned();
    for (model, wanted) in [
        (
            files([
                ("chat_template.jinja", template()),
                (
                    "additional_chat_templates/rag.jinja",
                    template() + "{# rag #}",
                ),
                ("additional_chat_templates/../evil.jinja", template()),
                ("chat_template.json", "{}".to_owned()),
                (
                    "tokenizer_config.json",
                    r#"{"added_tokens_decoder": {}}"#.to_owned(),
                ),
            ]),
            vec![
                "main",
                "chat_template.jinja",
                "rag.jinja",
                "tokenizer_config.json",
            ],
        ),
        (
            files([
                (
                    "chat_template.json",
                    json!({"chat_template": CHAT}).to_string(),
                ),
                ("tokenizer_config.json", bare()),
                ("special_tokens_map.json", "{}".to_owned()),
                ("tokenizer.json", "{}".to_owned()),
            ]),
            vec![
                "main",
                "chat_template.json",
                "tokenizer_config.json",
                "special_tokens_map.json",
                "tokenizer.json",
            ],
        ),
        (
            files([
                ("chat_template.jinja", template()),
                ("tokenizer.json", "{}".to_owned()),
            ]),
            vec!["main", "chat_template.jinja"],
        ),
    ] {
        let bench = Bench::new();
        let hub = FakeHub::new([("org/name", model)]);
        let inspected = run(&bench, &hub, "inspect org/name");
        assert_eq!(inspected.status, 0, "{inspected}");
        assert_eq!(names(&first_hand(hub.asked())), wanted);
        assert!(
            !bench
                .path("hf/hub/models--org--name/snapshots/evil.jinja")
                .exists()
        );
    }
}

#[test]
fn the_token_is_shown_to_the_hub_alone() {
    let bench = Bench::new().file("hf/token", "hf_stored\n");
    let mut model = model();
    // The tokenizer is a large file, which comes from another host.
    model.insert(
        "tokenizer_config.json".into(),
        json!({"chat_template": CHAT}).to_string().into(),
    );
    let hub = FakeHub::new([("org/one", model.clone()), ("org/two", model)]);
    let first = run(&bench, &hub, "inspect org/one");
    assert_eq!(first.status, 0, "{first}");
    let asked = hub.asked();
    assert!(asked.len() > 4, "{asked:?}");
    for asked in &asked {
        assert_eq!(asked.token.as_deref(), Some("hf_stored"), "{asked:?}");
    }
    let elsewhere = hub.asked_elsewhere();
    assert_eq!(names(&elsewhere), ["tokenizer.json"]);
    assert_eq!(elsewhere[0].token, None);
    let variables = [
        ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"),
        ("HF_TOKEN", "hf_given"),
    ];
    for (variables, token) in [(&variables[1..], Some("hf_given")), (&variables[..], None)] {
        let fresh = Bench::new();
        let run = run_with(&fresh, &hub, "inspect org/two", variables);
        assert_eq!(run.status, 0, "{run}");
        assert!(
            hub.asked()
                .iter()
                .all(|asked| asked.token.as_deref() == token)
        );
        assert!(!run.stderr.contains("hf_"), "{run}");
    }
}

#[test]
fn what_keeps_a_model_from_being_fetched_is_told_with_what_to_do() {
    let redirect = |target: &str| Reply::new(302, &[("Location", target)], "");
    let body = |body| Reply {
        body,
        ..Reply::new(200, &[("ETag", "\"x\""), ("X-Repo-Commit", COMMIT)], "")
    };
    let gated = || Reply::refusal(403, "GatedRepo");
    let pause = Reply::new(429, &[("Retry-After", "3600")], "");
    let invalid = [(
        "X-Error-Message",
        "Invalid credentials in Authorization header",
    )];
    let config = "/org/name/resolve/";
    let listing = "/api/models/";
    for (path, reply, source, told, help) in [
        (
            config,
            gated(),
            "org/name",
            "error[gated]: the model org/name is gated",
            "/org/name, and log in: `hf auth login`",
        ),
        (
            listing,
            Reply::refusal(401, "GatedRepo"),
            "org/name",
            "error[gated]: ",
            "ask for access at",
        ),
        (
            "none",
            pause.clone(),
            "org/other",
            "error[no-model]: there is no file or folder org/other, and the Hub at http://127.0.0.1:",
            "look whether the name is right",
        ),
        (
            "none",
            pause.clone(),
            "org/name@v9",
            "error[no-revision]: the model org/name has no revision v9",
            "/org/name/tree/main",
        ),
        (
            listing,
            Reply::new(401, &invalid, ""),
            "org/name",
            "error[hub-token]: the Hub at",
            "take another one",
        ),
        (
            listing,
            pause,
            "org/name",
            "it wants to be left alone for 3600 s",
            "what was fetched is kept",
        ),
        (
            config,
            Reply::refusal(403, "Odd"),
            "org/name",
            "error[hub-answer]: the Hub refuses to give",
            "/org/name; if there is none",
        ),
        (
            listing,
            Reply::new(200, &[], "<html>"),
            "org/name",
            "error[hub-answer]: ",
            "a proxy answers in its place",
        ),
        (
            listing,
            redirect("/api/models/again"),
            "org/name",
            "redirects more than",
            "HF_ENDPOINT",
        ),
        (
            listing,
            redirect("file:///etc/passwd"),
            "org/name",
            "it redirects to what is no address",
            "HF_ENDPOINT",
        ),
        (
            config,
            body(Body::Endless),
            "org/name",
            "is larger than the limit of 16777216 bytes",
            "HF_ENDPOINT",
        ),
        (
            config,
            Reply::new(
                200,
                &[("ETag", "\"../../x\""), ("X-Repo-Commit", COMMIT)],
                "{}",
            ),
            "org/name",
            "it has no tag",
            "HF_ENDPOINT",
        ),
        (
            config,
            Reply::new(200, &[("ETag", "\"x\"")], "{}"),
            "org/name",
            "it does not say that it is of the commit",
            "HF_ENDPOINT",
        ),
        (
            config,
            Reply::new(200, &[("ETag", "\"x\""), ("X-Repo-Commit", COMMIT)], "{}"),
            "org/name",
            "it is not as long as it was said to be",
            "HF_ENDPOINT",
        ),
    ] {
        let bench = Bench::new();
        let hub = FakeHub::saying([("org/name", model())], move |asked, _| {
            asked.path.starts_with(path).then(|| reply.clone())
        });
        let run = run(&bench, &hub, &format!("derive {source}"));
        assert_eq!(run.status, 2, "{run}");
        let flat = flat(&run);
        assert!(flat.contains(told), "{told}: {run}");
        assert!(flat.contains(help), "{help}: {run}");
        // Nothing that is half there is found.
        assert!(!bench.path("hf/hub/models--org--name/refs/main").exists());
    }
}

#[test]
fn a_hub_that_is_not_there_is_told() {
    let bench = Bench::new();
    let hub = FakeHub::new([]);
    for (endpoint, told) in [
        (
            "http://127.0.0.1:1",
            "error[hub-unreachable]: no answer from http://127.0.0.1:1/api/models/org/name",
        ),
        ("nonsense", "error[hub-answer]: the Hub's endpoint"),
    ] {
        let run = run_with(
            &bench,
            &hub,
            "derive org/name",
            &[("HF_ENDPOINT", endpoint)],
        );
        assert_eq!(run.status, 2, "{run}");
        assert!(flat(&run).contains(told), "{run}");
    }
    let offline = run_with(&bench, &hub, "derive org/name", &[("HF_HUB_OFFLINE", "1")]);
    assert!(flat(&offline).contains("since HF_HUB_OFFLINE"), "{offline}");
    assert_eq!(hub.asked(), []);
    let file = Bench::new().file("hf/hub", "no folder");
    let hub = FakeHub::new([("org/name", model())]);
    let unwritable = run(&file, &hub, "derive org/name");
    assert!(
        flat(&unwritable).contains("error[unwritable]: the cache of the Hub"),
        "{unwritable}"
    );
}

#[test]
fn a_model_without_a_chat_template_is_told_so() {
    let bench = Bench::new();
    let hub = FakeHub::new([(
        "org/base",
        files([("tokenizer_config.json", "{}".to_owned())]),
    )]);
    for _ in 0..2 {
        let run = run(&bench, &hub, "derive org/base");
        assert_eq!(run.status, 2, "{run}");
        assert!(flat(&run).contains("error[no-chat-template]"), "{run}");
        assert!(flat(&run).contains("was not made for chat"), "{run}");
    }
    assert_eq!(names(&first_hand(hub.asked())).len(), 2, "it is known then");
}

#[test]
fn what_is_nearly_the_name_of_a_model_is_told_so() {
    let bench = Bench::new();
    let hub = FakeHub::new([("openai/gpt2", model())]);
    for (source, hint) in [
        ("gpt2", "named with its owner: ORG/gpt2"),
        ("openai/gpt2/", "without a slash at its end: openai/gpt2"),
        (
            "openai/gpt2@../x",
            "what stands behind openai/gpt2@ is to be a branch",
        ),
        (
            "https://huggingface.co/datasets/openai/gpt2",
            "is named ORG/MODEL or ORG/MODEL@REVISION",
        ),
        (
            "https://huggingface.co/openai/gpt2/blob/main/chat_template.jinja",
            "is named ORG/MODEL or ORG/MODEL@REVISION",
        ),
    ] {
        for verb in ["derive", "inspect"] {
            let run = run(&bench, &hub, &format!("{verb} {source}"));
            assert_eq!(run.status, 2, "{run}");
            let told = flat(&run);
            let cannot = format!("error[unreadable]: cannot read {source}: ");
            assert!(told.contains(&cannot) && told.contains(hint), "{run}");
        }
    }
    assert_eq!(hub.asked(), [], "nobody is asked for what is no name");
}

#[test]
fn a_model_of_gguf_files_alone_is_told_so() {
    let bench = Bench::new();
    let names: Vec<String> = (0..25).map(|number| format!("q{number:02}.gguf")).collect();
    let all = names.iter().map(|name| (name.as_str(), "x".to_owned()));
    let gguf = files(all.chain([("README.md", "x".to_owned())]));
    let mut configured = gguf.clone();
    configured.extend(model());
    let hub = FakeHub::new([("org/some-GGUF", gguf), ("org/both-GGUF", configured)]);
    for verb in ["derive", "inspect"] {
        let run = run(&bench, &hub, &format!("{verb} org/some-GGUF"));
        assert_eq!(run.status, 2, "{run}");
        let told = flat(&run);
        for expected in [
            "error[no-chat-template]: the model org/some-GGUF has its chat template in its GGUF files alone",
            "note: there is: q00.gguf, q01.gguf, ",
            "q19.gguf and 5 more",
            "help: `hf download org/some-GGUF FILE` fetches one of them",
        ] {
            assert!(told.contains(expected), "{expected}: {run}");
        }
    }
    let all_asked = hub.asked();
    let asked = names_of_files(&all_asked);
    assert!(asked.is_empty(), "no large file is asked for: {asked:?}");
    let derived = run(&bench, &hub, "derive org/both-GGUF");
    assert_eq!(derived.status, 0, "{derived}");

    // One that the client has fetched is in the cache, beside nothing else.
    let snapshot = format!("hf/hub/models--org--some-GGUF/snapshots/{COMMIT}");
    let bench = bench
        .file(&format!("{snapshot}/q00.gguf"), "x")
        .file("hf/hub/models--org--some-GGUF/refs/main", COMMIT);
    let offline = [("HF_HUB_OFFLINE", "1")];
    let cached = run_with(&bench, &hub, "derive org/some-GGUF", &offline);
    assert_eq!(cached.status, 2, "{cached}");
    assert!(
        flat(&cached).contains("help: give one of the GGUF files"),
        "{cached}"
    );
}

#[test]
fn a_model_that_was_renamed_is_followed_and_told() {
    let bench = Bench::new();
    let hub = FakeHub::saying([("new/name", model())], |asked, _| {
        let rest = asked.path.strip_prefix("/api/models/old/name/")?;
        let target = format!("/api/models/new/name/{rest}");
        Some(Reply::new(307, &[("Location", &target)], ""))
    });
    let derived = run(&bench, &hub, "derive old/name");
    assert_eq!(derived.status, 0, "{derived}");
    let told = "info[renamed]: the Hub has old/name under the name new/name now";
    assert!(derived.stderr.contains(told), "{derived}");
    assert!(
        hub.asked()
            .iter()
            .all(|asked| !asked.path.starts_with("/old/"))
    );
    let again = run(&bench, &hub, "inspect old/name");
    assert_eq!((again.status, hub.asked()), (0, Vec::new()), "{again}");
}

#[test]
fn what_passes_is_tried_again() {
    let bench = Bench::new();
    let hub = FakeHub::saying([("org/name", model())], |asked, before| {
        let is_config = asked.path.ends_with("/tokenizer_config.json");
        match before {
            0 if asked.path.starts_with("/api/models/") => {
                Some(Reply::new(429, &[("Retry-After", "0")], ""))
            }
            0 if is_config => Some(Reply {
                body: Body::Broken,
                ..Reply::new(200, &[("ETag", "\"x\""), ("X-Repo-Commit", COMMIT)], "")
            }),
            _ => None,
        }
    });
    let derived = run(&bench, &hub, "derive org/name");
    assert_eq!(derived.status, 0, "{derived}");
}

#[test]
fn processes_that_fetch_at_once_do_not_hurt_each_other() {
    let bench = Bench::new();
    let hub = FakeHub::new([("org/name", model())]);
    let all: Vec<_> = (0..6)
        .map(|_| started(&bench, &hub, "inspect org/name"))
        .collect();
    for process in all {
        let output = process.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
    }
    let left = bench.list("hf/hub/models--org--name/blobs");
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_fetched_model_is_proposed_for() {
    let bench = Bench::new();
    let hub = FakeHub::new([("org/kite", model())]);
    let proposed = run(&bench, &hub, "propose org/kite");
    assert_eq!(proposed.status, 0, "{proposed}");
    assert!(
        proposed
            .stdout
            .starts_with("hf upload org/kite proposal/tokenizer_config.json"),
        "{proposed}"
    );
    let config: serde_json::Value =
        serde_json::from_str(&bench.read("proposal/tokenizer_config.json")).expect("JSON");
    assert!(config["response_template"].is_object());
    assert!(
        hub.asked().iter().all(|asked| asked.method == "GET"),
        "nothing is written to the Hub"
    );
}
