//! Models of the Hugging Face Hub as sources: those that its client has put into its cache.

use crate::bench::{Bench, CHAT, Run, TEMPLATE};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A folder with a cache in `hub` that has `org/Model-1.5` with a chat template, and `org/weights` without one. The files of a snapshot are
/// links, as the client makes them.
fn bench() -> Bench {
    let config = serde_json::json!({"chat_template": CHAT, "eos_token": "</s>"});
    let template: serde_json::Value = serde_json::from_str(TEMPLATE).expect("JSON");
    let finished = serde_json::json!({"chat_template": CHAT, "response_template": template});
    let bench = Bench::new()
        .file("hub/models--org--Model-1.5/refs/main", COMMIT)
        .file("hub/models--org--Model-1.5/refs/v2", "f".repeat(40))
        .file("hub/models--org--Model-1.5/blobs/1", config.to_string())
        .file("hub/models--org--Model-1.5/blobs/2", finished.to_string())
        .file("hub/models--org--weights/refs/main", COMMIT)
        .file("hub/models--org--weights/blobs/3", "{}");
    for (model, commit, file, blob) in [
        ("Model-1.5", COMMIT, "tokenizer_config.json", 1),
        ("Model-1.5", &"f".repeat(40), "tokenizer_config.json", 2),
        ("weights", COMMIT, "config.json", 3),
    ] {
        let model = bench.path(&format!("hub/models--org--{model}"));
        let snapshot = model.join("snapshots").join(commit);
        std::fs::create_dir_all(&snapshot).expect("a folder");
        let target = format!("../../blobs/{blob}");
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, snapshot.join(file)).expect("a link");
        #[cfg(not(unix))]
        std::fs::copy(snapshot.join(target), snapshot.join(file)).expect("a copy");
    }
    bench
}

/// Runs the binary with that cache, and arguments that have no spaces.
fn run(bench: &Bench, arguments: &str) -> Run {
    let mut command = bench.command();
    command.env("HF_HUB_CACHE", bench.path("hub"));
    Run::of(command.args(arguments.split(' ')))
}

#[test]
fn a_cached_model_is_a_source() {
    let bench = bench();
    let derived = run(&bench, "derive --out-dir out org/Model-1.5");
    assert_eq!(derived.status, 0, "{derived}");
    assert!(
        derived.stderr.contains("proved  org/Model-1.5 "),
        "{derived}"
    );
    assert_eq!(
        bench.list("out"),
        ["Model-1.5.json", "Model-1.5.report.json"]
    );
    // Reports say the same on every machine.
    assert!(!bench.read("out/Model-1.5.report.json").contains(COMMIT));
    for verb in ["inspect", "derive --conversation", "annotate"] {
        let run = run(&bench, &format!("{verb} org/Model-1.5@{COMMIT}"));
        assert!(run.status < 2, "{verb}: {run}");
    }
    // The folder in the cache is a source, too, with the model's name.
    let folder = format!("hub/models--org--Model-1.5/snapshots/{COMMIT}");
    let derived = run(&bench, &format!("derive --out-dir direct {folder}"));
    assert_eq!(derived.status, 0, "{derived}");
    assert_eq!(
        bench.list("direct"),
        ["Model-1.5.json", "Model-1.5.report.json"]
    );
}

#[test]
fn a_response_template_of_a_cached_model_is_one() {
    let bench = bench();
    let linted = run(&bench, "lint org/Model-1.5@v2");
    assert!(linted.status < 2, "{linted}");
    let missing = run(&bench, "lint org/Model-1.5");
    assert!(missing.stdout.contains("no-response-template"), "{missing}");
}

#[test]
fn what_is_not_cached_is_told_with_what_brings_it() {
    let bench = bench();
    for (source, told, help) in [
        (
            "org/other",
            "error[not-cached]: there is no file or folder org/other, and no model org/other in the cache ",
            "`hf download org/other --include '*.json' --include '*.jinja'` brings",
        ),
        (
            "org/Model-1.5@v9",
            "error[not-cached]: no revision v9 of org/Model-1.5 in the cache ",
            "`hf download org/Model-1.5 --revision v9 --include",
        ),
        (
            "org/weights",
            "error[no-chat-template]: there is no chat template in it",
            "`hf download org/weights --include",
        ),
    ] {
        for verb in ["derive", "inspect", "debug"] {
            let run = run(&bench, &format!("{verb} {source}"));
            // The debugger needs a terminal and says so first where there is none.
            if verb == "debug" && run.stderr.contains("terminal") {
                continue;
            }
            assert_eq!(run.status, 2, "{verb}: {run}");
            let text = run.stderr.replace("\n |         ", " ");
            assert!(text.contains(told), "{verb}: {run}");
            assert!(text.contains(help), "{verb}: {run}");
        }
    }
    let known = run(&bench, "derive org/Model-1.5@v9");
    assert!(known.stderr.contains("there is: main, v2"), "{known}");
    // A path with the ending of a file is no model.
    let file = run(&bench, "derive org/other.jinja");
    assert!(file.stderr.contains("error[unreadable]"), "{file}");
    // A folder that is there goes before the cache.
    std::fs::create_dir_all(bench.path("org/Model-1.5")).expect("a folder");
    std::fs::write(
        bench.path("org/Model-1.5/chat_template.jinja"),
        "{{ messages }}{% bad",
    )
    .expect("a file");
    let here = run(&bench, "derive org/Model-1.5");
    assert!(!here.stderr.contains("proved"), "{here}");
}
