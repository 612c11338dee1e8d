//! `obverse derive --hub-list`: many models, each chat template once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, CHAT};
use crate::fetch::{model, run, started};
use crate::support::hub::{FakeHub, Files, Reply, files};

/// A model with the chat template of the others but a tag that is called otherwise.
fn other() -> Files {
    let chat = CHAT.replace("</{{", "<end-{{");
    files([(
        "tokenizer_config.json",
        json!({"chat_template": chat, "added_tokens_decoder": {}}).to_string(),
    )])
}

/// A model with the chat template of the others in a configuration that no other one has, so that its content can only come from itself.
fn closed_model() -> Files {
    let config = json!({"chat_template": CHAT, "eos_token": "</s>", "added_tokens_decoder": {}, "model_type": "closed"});
    let mut files = model();
    files.insert(
        "tokenizer_config.json".to_owned(),
        config.to_string().into_bytes(),
    );
    files
}

const LIST: &str = "\
# Models of a test
org/first

org/same   # shares its files
org/other@main
org/first
org/base
org/gone
org/closed
";

fn hub(closed: bool) -> FakeHub {
    let base = files([("tokenizer_config.json", "{}".to_owned())]);
    let models = [
        ("org/first", model()),
        ("org/same", model()),
        ("org/other", other()),
        ("org/base", base),
        ("org/closed", closed_model()),
    ];
    FakeHub::saying(models, move |asked, _| {
        let is_closed = closed && asked.path.starts_with("/org/closed/");
        is_closed.then(|| Reply::refusal(403, "GatedRepo"))
    })
}

fn document(bench: &Bench) -> Value {
    serde_json::from_str(&bench.read("out/hub-list.json")).expect("JSON")
}

#[test]
fn each_chat_template_is_derived_from_once_and_a_run_goes_on() {
    let bench = Bench::new().file("list.txt", LIST);
    let first = hub(true);
    let command = "derive --hub-list list.txt --out-dir out";
    let ran = run(&bench, &first, command);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
    assert_eq!(
        bench.list("out"),
        [
            "hub-list.json",
            "org--first.json",
            "org--first.report.json",
            "org--other.json",
            "org--other.report.json"
        ]
    );
    let told: Vec<&str> = ran.stderr.lines().map(str::trim_end).collect();
    let has = |start: &str, end: &str| {
        told.iter()
            .any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(has("proved", " org/first"), "{ran}");
    assert!(
        has("NOT DERIVED", "there is no chat template in it"),
        "{ran}"
    );
    assert!(has("not derived: no-model ", " 1"), "{ran}");
    assert!(has("not derived: gated ", " 1"), "{ran}");
    assert!(ran.stderr.contains("reasoning none, content "), "{ran}");
    let models = document(&bench)["models"].clone();
    let outcome = |name: &str| {
        let all = models.as_array().expect("a list");
        let found = all.iter().find(|one| one["model"] == name).expect(name);
        let code = found["error"]["code"].as_str();
        code.or(found["template"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        [
            "org/first",
            "org/same",
            "org/other@main",
            "org/base",
            "org/gone",
            "org/closed"
        ]
        .map(outcome),
        [
            "org--first",
            "org--first",
            "org--other",
            "no-chat-template",
            "no-model",
            "gated"
        ]
    );
    assert_eq!(models.as_array().map(Vec::len), Some(6));

    // What may pass is tried again, and nothing else.
    let second = hub(false);
    let again = run(&bench, &second, command);
    assert_eq!(again.status, 2, "{again}");
    assert!(
        again.stderr.starts_with("5 of 6 models were done before\n"),
        "{again}"
    );
    let asked = second.asked();
    assert!(
        !asked.is_empty() && asked.iter().all(|one| one.path.contains("closed")),
        "{asked:?}"
    );
    assert_eq!(document(&bench)["templates"][0]["models"], 3);
    assert_eq!(bench.list("out").len(), 5);

    // Without the state it is made again from the cache, the same.
    let before = document(&bench);
    std::fs::remove_file(bench.path("out/hub-list.json")).expect("removed");
    let third = hub(false);
    let anew = run(&bench, &third, &format!("{command} --format json"));
    assert_eq!(anew.status, 2, "{anew}");
    let after = document(&bench);
    assert_eq!(after["templates"], before["templates"]);
    // Messages name the server, which is another one.
    let without = |document: &Value| {
        let mut models = document["models"].clone();
        for model in models.as_array_mut().expect("a list") {
            if let Some(error) = model["error"].as_object_mut() {
                error.remove("message");
            }
        }
        models
    };
    assert_eq!(without(&after), without(&before));
    assert_eq!(
        serde_json::from_str::<Value>(&anew.stdout).expect("JSON"),
        after
    );
    assert!(third.asked().iter().all(|one| one.path.contains("gone")));
}

/// A model with a chat template of its own, which no other number has.
fn numbered(number: usize) -> Files {
    let chat = CHAT.replace("</{{", &format!("<end{number}-{{{{"));
    let config = json!({"chat_template": chat, "added_tokens_decoder": {}});
    files([("tokenizer_config.json", config.to_string())])
}

/// Twelve models, of which two each share a chat template. While `is_slow` is true the ninth comes after a while and those behind it do not come.
fn twelve(is_slow: &Arc<AtomicBool>) -> (String, FakeHub) {
    let names: Vec<String> = (0..12).map(|number| format!("org/m{number:02}")).collect();
    let models: Vec<(&str, Files)> = names
        .iter()
        .enumerate()
        .map(|(number, name)| (name.as_str(), numbered(number / 2)))
        .collect();
    let is_slow = Arc::clone(is_slow);
    let hub = FakeHub::saying(models, move |asked, _| {
        let waits = |name: &str| asked.path.contains(&format!("/{name}/"));
        let begun = Instant::now();
        let patience = match waits("m08") {
            // The state is saved when two seconds have passed.
            true => Duration::from_millis(2500),
            false if ["m09", "m10", "m11"].into_iter().any(waits) => Duration::from_secs(60),
            false => Duration::ZERO,
        };
        while is_slow.load(Ordering::Relaxed) && begun.elapsed() < patience {
            thread::sleep(Duration::from_millis(20));
        }
        None
    });
    (names.join("\n"), hub)
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_as_one_that_was_not() {
    let command = "derive --hub-list list.txt --out-dir out";
    let is_slow = Arc::new(AtomicBool::new(false));
    let (list, hub) = twelve(&is_slow);
    let whole = Bench::new().file("list.txt", &list);
    let ran = run(&whole, &hub, command);
    assert_eq!(ran.status, 0, "{ran}");
    let is_the_same = |bench: &Bench| {
        // What a write had begun that was killed is a hidden file, which nobody reads.
        let is_left = |name: &String| name.starts_with('.') && name.ends_with(".tmp");
        let mut files = bench.list("out");
        files.retain(|name| !is_left(name));
        assert_eq!(files, whole.list("out"));
        for file in whole.list("out") {
            let name = format!("out/{file}");
            assert_eq!(bench.read(&name), whole.read(&name), "{file}");
        }
    };

    // In the middle, when it has saved what was done.
    is_slow.store(true, Ordering::Relaxed);
    let bench = Bench::new().file("list.txt", &list);
    hub.asked();
    let mut killed = started(&bench, &hub, command);
    let begun = Instant::now();
    while !bench.path("out/hub-list.json").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(50),
            "nothing is saved"
        );
        assert_eq!(killed.try_wait().expect("a process"), None, "it has ended");
        thread::sleep(Duration::from_millis(20));
    }
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    is_slow.store(false, Ordering::Relaxed);
    let state = document(&bench);
    let models = state["models"].as_array().expect("a list");
    let done: Vec<&str> = models
        .iter()
        .filter_map(|one| one["model"].as_str())
        .collect();
    assert!((1..12).contains(&done.len()), "{done:?}");
    hub.asked();
    let again = run(&bench, &hub, command);
    assert_eq!(again.status, 0, "{again}");
    let is_known = state["templates"]
        .as_array()
        .is_some_and(|all| !all.is_empty());
    let tells = again.stderr.contains(" of 12 models were done before\n");
    assert_eq!(tells, is_known, "{again}");
    let asked = hub.asked();
    let is_done = |path: &str| done.iter().any(|name| path.contains(&format!("/{name}/")));
    assert!(
        !asked.is_empty() && !asked.iter().any(|one| is_done(&one.path)),
        "{asked:?}"
    );
    is_the_same(&bench);

    // At any moment, one kill after the other, each a little later.
    let bench = Bench::new().file("list.txt", &list);
    for pause in (0..6).map(|step| Duration::from_millis(80 * step)) {
        let mut killed = started(&bench, &hub, command);
        thread::sleep(pause);
        // It may have done all of it by then.
        let _ = killed.kill();
        killed.wait().expect("it ends");
    }
    let last = run(&bench, &hub, command);
    assert_eq!(last.status, 0, "{last}");
    is_the_same(&bench);
}

#[test]
fn contents_that_models_share_are_asked_for_once() {
    let names: Vec<String> = (0..20).map(|number| format!("org/m{number}")).collect();
    let bench = Bench::new().file("list.txt", names.join("\n"));
    let hub = FakeHub::new(names.iter().map(|name| (name.as_str(), model())));
    // One that is there before is enough: those that are fetched at the same time cannot know of each other.
    let begun = run(&bench, &hub, "inspect org/m0");
    assert_eq!(begun.status, 0, "{begun}");
    hub.asked();
    let ran = run(&bench, &hub, "derive --hub-list list.txt --out-dir out");
    assert_eq!(ran.status, 0, "{ran}");
    let asked = hub.asked();
    let listings = asked
        .iter()
        .filter(|one| one.path.starts_with("/api/models/"));
    assert_eq!(listings.count(), 19);
    let configs = asked
        .iter()
        .filter(|one| one.path.ends_with("/tokenizer_config.json"));
    assert!(
        configs.count() <= 2 * 8,
        "at most once, and a redirect, for each that is fetched at the same time"
    );
    assert_eq!(
        bench.list("out"),
        ["hub-list.json", "org--m0.json", "org--m0.report.json"]
    );
    let statuses = run(&bench, &hub, "derive --hub-list list.txt --out-dir out");
    assert_eq!((statuses.status, hub.asked().len()), (0, 0), "{statuses}");
}

#[test]
fn lists_that_cannot_be_worked_on_are_refused() {
    let bench = Bench::new()
        .file("list.txt", "org/a\nno model\n../x\n")
        .file("out/hub-list.json", r#"{"made_with": 1}"#);
    let hub = FakeHub::new([]);
    let wrong = run(&bench, &hub, "derive --hub-list list.txt --out-dir out").refused(2);
    assert!(
        wrong.contains("error[usage]")
            && wrong.contains("line 2: \"no model\"")
            && wrong.contains("line 3:"),
        "{wrong}"
    );
    let lonely = run(&bench, &hub, "derive --hub-list list.txt").refused(2);
    assert!(lonely.contains("--out-dir"), "{lonely}");
    let both = run(
        &bench,
        &hub,
        "derive --hub-list list.txt --out-dir out chat.jinja",
    )
    .refused(2);
    assert!(both.contains("cannot be used with"), "{both}");
    assert_eq!(hub.asked(), []);
}

#[test]
fn a_hub_that_is_gone_ends_the_run() {
    let names: Vec<String> = (0..60).map(|number| format!("org/m{number}")).collect();
    let bench = Bench::new().file("list.txt", names.join("\n"));
    let mut gone = FakeHub::new([]);
    gone.url = "http://127.0.0.1:1".to_owned();
    let ran = run(&bench, &gone, "derive --hub-list list.txt --out-dir out");
    assert_eq!(ran.status, 2, "{ran}");
    assert!(
        ran.stderr
            .contains("error[hub-unreachable]: no answer came for 16 models in a row"),
        "{ran}"
    );
    let asked = document(&bench)["models"].as_array().map(Vec::len);
    assert!(
        asked < Some(60),
        "the rest is left for another time: {asked:?}"
    );
}
