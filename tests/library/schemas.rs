//! The JSON Schemas: what is one of them validates, and what is none does not.

use std::path::{Path, PathBuf};

use crate::support::schema::mismatch;
use obverse::check::Fixture;
use obverse::lint;
use obverse::value::json;
use serde_json::Value;

fn read(path: impl AsRef<Path>) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

fn schema(name: &str) -> Value {
    read(format!("schemas/{name}.json"))
}

/// The files in derived/ with or without that ending of their name.
fn derived(reports: bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("derived");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let found: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".json") && name.ends_with(".report.json") == reports
        })
        .collect();
    assert!(found.len() > 10);
    found
}

#[test]
fn response_templates_validate() {
    let schema = schema("response-template");
    for path in derived(false) {
        assert_eq!(mismatch(&schema, &read(&path)), None, "{}", path.display());
    }
    // What the linter names is valid, but for the arguments that nothing checks.
    for rule in lint::rules() {
        if ["bad-arguments", "unknown-argument"].contains(&rule.code) {
            continue;
        }
        for text in [rule.example.bad, rule.example.good] {
            let value = serde_json::from_str(text).expect("JSON");
            assert_eq!(mismatch(&schema, &value), None, "{text}");
        }
    }
}

#[test]
fn response_schemas_validate() {
    let schema = schema("response-schema");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/response_schema");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        let value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(mismatch(&schema, &value), None, "{}", path.display());
    }
    for text in [
        r#"[]"#,
        r#"{"type": "strin"}"#,
        r#"{"x-regex": 5}"#,
        r#"{"properties": []}"#,
        r#"{"properties": {"a": 1}}"#,
        r#"{"additionalProperties": {"items": 1}}"#,
        r#"{"x-regex-substitutions": [["a"]]}"#,
        r#"{"x-parser": "yaml"}"#,
        r#"{"required": "a"}"#,
    ] {
        let value = serde_json::from_str(text).expect("JSON");
        assert!(mismatch(&schema, &value).is_some(), "{text}");
    }
}

#[test]
fn what_is_no_response_template_does_not() {
    let schema = schema("response-template");
    for text in [
        r#"[]"#,
        r#"{"start_anchor": "x"}"#,
        r#"{"fields": {"c": {}}}"#,
        r#"{"start_anchor": "x", "fields": {}}"#,
        r#"{"start_anchor": "x", "start_anchor_pattern": "x", "fields": {"c": {}}}"#,
        r#"{"version": 2, "start_anchor": "x", "fields": {"c": {}}}"#,
        r#"{"start_anchor": [], "fields": {"c": {}}}"#,
        r#"{"start_anchor": "", "fields": {"c": {}}}"#,
        r#"{"start_anchor": "x", "field": {}, "fields": {"c": {}}}"#,
    ] {
        let value = serde_json::from_str(text).expect("JSON");
        assert!(mismatch(&schema, &value).is_some(), "{text}");
    }
    for field in [
        r#"5"#,
        r#"{"opne": "x"}"#,
        r#"{"open": null}"#,
        r#"{"open": "a", "open_pattern": "b"}"#,
        r#"{"close": "a", "close_pattern": "b"}"#,
        r#"{"content": "jsn"}"#,
        r#"{"join": "x"}"#,
        r#"{"repeats": true, "join": 5}"#,
        r#"{"transform_each": true}"#,
        r#"{"content": "xml-inline"}"#,
        r#"{"content": "json", "content_args": {"stirp": true}}"#,
        r#"{"content_args": {"unquoted_keys": true}}"#,
    ] {
        let text = format!(r#"{{"start_anchor": "x", "fields": {{"c": {field}}}}}"#);
        let value = serde_json::from_str(&text).expect("JSON");
        assert!(mismatch(&schema, &value).is_some(), "{text}");
    }
}

/// Lines that are read, and lines that are refused.
#[test]
fn the_lines_of_fixtures_are_those_that_are_read() {
    let schema = schema("fixture");
    for (line, is_one) in [
        (
            r#"{"response": "a", "expected": {"content": "a"}, "name": "n", "id": 5}"#,
            true,
        ),
        (
            r#"{"chunks": ["a", "b"], "prefix": "", "tools": [], "events": [{}]}"#,
            true,
        ),
        (
            r#"{"response": "a", "messages": [{"role": "user"}], "error": {"kind": "json", "field": "x"}}"#,
            true,
        ),
        (
            r#"{"response": "a", "messages": {"messages": [], "kwargs": {}}, "prefix": null}"#,
            true,
        ),
        (r#"{"response": "a", "unclaimed": ["a"]}"#, true),
        (r#"{"response": "a", "unclaimed": [5]}"#, false),
        (r#"{"expected": {}}"#, false),
        (r#"{"response": 5}"#, false),
        (r#"{"response": "a", "expected": []}"#, false),
        (r#"{"response": "a", "chunks": [1]}"#, false),
        (r#"{"response": "a", "messages": {}}"#, false),
        (r#"{"response": "a", "error": {}}"#, false),
        (r#"{"response": "a", "respnse": "a"}"#, false),
    ] {
        let members = json::parse(line)
            .expect("JSON")
            .as_object()
            .cloned()
            .expect("an object");
        assert_eq!(Fixture::from_map(members).is_ok(), is_one, "{line}");
        let value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            mismatch(&schema, &value).is_none(),
            is_one,
            "{line}: {:?}",
            mismatch(&schema, &value)
        );
    }
}

#[test]
fn reports_of_derivations_validate() {
    let schema = schema("derivation");
    for path in derived(true) {
        assert_eq!(mismatch(&schema, &read(&path)), None, "{}", path.display());
    }
}

/// Sessions of the debugger, as it records them: of a chat template, and of a response with a breakpoint in mid-edit.
#[cfg(feature = "tui")]
fn sessions() -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |what: &[&str]| {
        let file = folder.path().join("session.json");
        let mut command = assert_cmd::Command::cargo_bin("obverse").expect("the binary");
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .arg("debug")
            .args(what)
            .args(["--screenshot", "80x24", "--record"])
            .arg(&file)
            .assert()
            .success();
        read(&file)
    };
    let derived = record(&["chat_templates/qwen3.jinja"]);
    assert!(derived["derivation"]["evidence"][0]["marker"].is_string());
    let edited = record(&[
        "docs/debugger/template.json",
        "docs/debugger/response.txt",
        "--chunks",
        "3",
        "--keys",
        "bfield content<enter><esc>5e{",
    ]);
    assert_eq!(edited["breakpoints"].as_array().map(Vec::len), Some(1));
    assert!(edited["draft"].is_string());
    vec![derived, edited]
}

/// Renders with origins of some of the project's chat templates.
#[cfg(feature = "cli")]
fn origins() -> Vec<Value> {
    told(&["render", "--origins"])
}

/// The same conversations with spans.
#[cfg(feature = "cli")]
fn spans() -> Vec<Value> {
    told(&["spans", "--characters"])
}

#[cfg(feature = "cli")]
fn told(arguments: &[&str]) -> Vec<Value> {
    let conversation = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "reasoning_content": "r\n",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"k": "\"", "n": 5}}}]}]"#;
    let rendered = ["qwen3", "qwen2_5", "glm4_6"].map(|name| {
        let out = assert_cmd::Command::cargo_bin("obverse")
            .expect("the binary")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .arg(format!("chat_templates/{name}.jinja"))
            .args(["--messages", "-", "--date", "2026-01-02"])
            .write_stdin(conversation)
            .assert()
            .success();
        serde_json::from_slice(&out.get_output().stdout).expect("JSON")
    });
    rendered.to_vec()
}

/// A conversation format, its report, and a conversation that is read with it.
#[cfg(feature = "cli")]
fn conversations() -> Vec<(&'static str, Value, bool)> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.json");
    let out = assert_cmd::Command::cargo_bin("obverse")
        .expect("the binary")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([
            "derive",
            "--conversation",
            "chat_templates/hermes.jinja",
            "--report",
        ])
        .arg(&file)
        .assert()
        .success();
    let format: Value = serde_json::from_slice(&out.get_output().stdout).expect("JSON");
    let messages = folder.path().join("messages.json");
    std::fs::write(&messages, r#"[{"role": "user", "content": "Hello"}]"#).expect("a file");
    let out = assert_cmd::Command::cargo_bin("obverse")
        .expect("the binary")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["render", "chat_templates/hermes.jinja", "--messages"])
        .arg(&messages)
        .assert()
        .success();
    let text = out.get_output().stdout.clone();
    let out = assert_cmd::Command::cargo_bin("obverse")
        .expect("the binary")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["read", "chat_templates/hermes.jinja"])
        .write_stdin(text)
        .assert();
    let read: Value = serde_json::from_slice(&out.get_output().stdout).expect("JSON");
    let mut broken = format.clone();
    broken["places"][0]["holds"] = "anything".into();
    vec![
        ("conversation-format", format, true),
        ("conversation-format", broken, false),
        ("conversation-derivation", read_json(&file), true),
        (
            "conversation-derivation",
            serde_json::json!({"verdict": "yes"}),
            false,
        ),
        ("conversation", read, true),
        (
            "conversation",
            serde_json::json!({"messages": "none"}),
            false,
        ),
    ]
}

#[cfg(feature = "cli")]
fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// The files of the project, of each kind that there is a schema of, and what is none of the kind.
fn of_each_kind() -> Vec<(&'static str, Value, bool)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all: Vec<(&'static str, Value, bool)> = Vec::new();
    let text = |path: &Path| std::fs::read_to_string(path).expect("a file");
    let lines = |path: &Path| -> Vec<Value> {
        let text = text(path);
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect()
    };
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    };
    for path in entries(&root.join("fixtures")) {
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            all.extend(lines(&path).into_iter().map(|line| ("fixture", line, true)));
        }
        if !path.is_dir() {
            continue;
        }
        for file in entries(&path).iter().flat_map(|fixture| entries(fixture)) {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name");
            let kind = match name {
                "expected.json" => "message",
                "error.json" => "error",
                "unclaimed.json" => "unclaimed",
                "tools.json" => "tools",
                "chunks.json" => "chunks",
                "events.jsonl" => {
                    all.extend(lines(&file).into_iter().map(|line| ("event", line, true)));
                    continue;
                }
                _ => continue,
            };
            all.push((kind, read(&file), true));
        }
    }
    all.extend(
        derived(false)
            .iter()
            .map(|path| ("response-template", read(path), true)),
    );
    all.extend(
        derived(true)
            .iter()
            .map(|path| ("derivation", read(path), true)),
    );
    #[cfg(feature = "cli")]
    all.extend(origins().into_iter().map(|one| ("origins", one, true)));
    #[cfg(feature = "cli")]
    all.extend(spans().into_iter().map(|one| ("spans", one, true)));
    #[cfg(feature = "tui")]
    all.extend(sessions().into_iter().map(|one| ("session", one, true)));
    #[cfg(feature = "cli")]
    all.extend(conversations());
    let project: Value = toml::from_str(&text(&root.join("obverse.toml"))).expect("TOML");
    all.push(("obverse-toml", project, true));
    for (kind, value, is_one) in [
        ("messages", r#"[{"role": "user", "content": "q"}]"#, true),
        (
            "messages",
            r#"{"messages": [], "kwargs": {"enable_thinking": false}}"#,
            true,
        ),
        ("messages", r#"{"kwargs": {}}"#, false),
        ("messages", r#"["q"]"#, false),
        ("fixture", r#"{"response": "a", "expcted": {}}"#, false),
        ("message", r#"[]"#, false),
        ("error", r#"{"field": "x"}"#, false),
        ("unclaimed", r#"["a", 1]"#, false),
        ("tools", r#"{"type": "function"}"#, false),
        ("tools", r#"[{"type": "function"}]"#, false),
        ("tools", r#"[{"name": "f"}]"#, true),
        ("chunks", r#"["a", 1]"#, false),
        ("event", r#"{"type": "region_open"}"#, false),
        ("event", r#"{"type": "region_opened", "field": "x"}"#, false),
        (
            "event",
            r#"{"type": "region_chunk", "field": "x", "text": "a"}"#,
            false,
        ),
        ("derivation", r#"{"verified": "yes"}"#, false),
        ("obverse-toml", r#"{"templates": []}"#, false),
        (
            "obverse-toml",
            r#"{"lint": {"allow": [{"code": "dollar"}]}}"#,
            false,
        ),
        (
            "origins",
            r#"{"text": "aé", "decided_by": [["messages"]], "origins": [
                {"start": 0, "end": 1, "source": {"line": 1, "column": 2, "start": 1, "end": 2}},
                {"start": 1, "end": 3, "input": ["messages", 0, "content"], "from": [0, 2], "derived": true,
                 "key": true, "also": [["tools"]]}]}"#,
            true,
        ),
        (
            "origins",
            r#"{"text": "a", "origins": [{"start": 0, "end": 1}], "decided_by": []}"#,
            false,
        ),
        ("origins", r#"{"text": "a", "origins": []}"#, false),
        (
            "spans",
            r#"{"text": "a", "spans": [], "generated": [[0, 1]], "input_ids": [7], "assistant_masks": [1], "tokens": [[0, 1]]}"#,
            true,
        ),
        (
            "spans",
            r#"{"text": "a", "spans": [], "generated": [[0]]}"#,
            false,
        ),
        (
            "spans",
            r#"{"text": "a", "spans": [{"message": 0}], "generated": []}"#,
            false,
        ),
        ("report", r#"{"results": []}"#, false),
        (
            "review",
            r#"{"pending": [{"name": "a", "why": "b", "command": "c",
                "changes": [{"path": "p", "before": null, "after": "x"}]}], "failing": 0}"#,
            true,
        ),
        (
            "review",
            r#"{"pending": [{"name": "a"}], "failing": 0}"#,
            false,
        ),
        (
            "new",
            r#"{"fixtures": [{"name": "fixtures/a/plain", "status": "to_fill"}]}"#,
            true,
        ),
        (
            "new",
            r#"{"fixtures": [{"name": "fixtures/a/plain", "status": "lost"}]}"#,
            false,
        ),
        (
            "explanation",
            r#"{"codes": [{"code": "unclaimed", "told_by": ["obverse check"], "severity": "error", "summary": "Text is lost."}]}"#,
            true,
        ),
        (
            "explanation",
            r#"{"code": "unclaimed", "told_by": ["obverse check"], "severity": "error", "summary": "Text is lost."}"#,
            false,
        ),
        ("session", r#"{"obverse_session": 1, "samples": []}"#, false),
        (
            "session",
            r#"{"obverse_session": 2, "template": "{}", "samples": []}"#,
            false,
        ),
        (
            "grammar",
            r#"{"peg": 1, "root": {"sequence": [{"tag": "content", "of": {"until": "<call>"}}, {"ref": "call"}, "end"]}, "rules": {"call": {"literal": "<call>"}}}"#,
            true,
        ),
        (
            "grammar",
            r#"{"peg": 1, "root": {"literl": "<call>"}}"#,
            false,
        ),
        (
            "response-template",
            r#"{"start_anchor": "x", "fields": {"c": {"opne": "x"}}}"#,
            false,
        ),
        (
            "response-schema",
            r#"{"type": "array", "x-regex-iterator": "<c>(.*?)</c>", "items": {"x-parser": "json"}}"#,
            true,
        ),
        (
            "response-schema",
            r#"{"type": "object", "properties": {"a": {"x-regex": ["b"]}}}"#,
            false,
        ),
        // The verbs' own documents of these kinds are held to their schemas where the verbs are tested.
        (
            "annotation",
            r#"{"chat_template": "", "marks": 1, "proved": 349, "other_under": [{"enable_thinking": false}]}"#,
            true,
        ),
        (
            "annotation",
            r#"{"chat_template": "", "marks": 1, "proved": 1}"#,
            false,
        ),
        (
            "conversion",
            r#"{"verdict": "inexpressible", "samples": [], "findings": [{"code": "convert-no-candidate", "path": "$", "message": "m"}],
                "differences": [], "candidates": 0, "left_out": 0}"#,
            true,
        ),
        ("conversion", r#"{"verdict": "perhaps"}"#, false),
        (
            "init",
            r#"{"written": null, "text": "", "templates": [{"files": ["a.json"], "chat_template": null, "fixtures": null}]}"#,
            true,
        ),
        (
            "init",
            r#"{"written": "obverse.toml", "templates": []}"#,
            false,
        ),
        (
            "failure",
            r#"{"error": {"kind": "usage", "message": "m", "hint": "h"}}"#,
            true,
        ),
        ("failure", r#"{"error": "usage"}"#, false),
        ("hub-list", HUB_LIST, true),
        (
            "hub-list",
            r#"{"made_with": "obverse 0.1.0", "templates": [], "models": [{"model": "org/a"}]}"#,
            false,
        ),
        (
            "proposal",
            r#"{"model": "org/kite", "verdict": "proved", "files": ["out/a.json"], "fixtures": [], "command": null}"#,
            true,
        ),
        (
            "proposal",
            r#"{"model": "org/kite", "verdict": "proved", "files": "a.json", "fixtures": [], "command": null}"#,
            false,
        ),
        (
            "recording",
            r#"{"fixtures": [{"name": "a", "status": "recorded", "bytes": 2, "chunks": 1, "limited": false, "broken": null,
                "message": {"role": "assistant"}, "error": null, "unclaimed": []}]}"#,
            true,
        ),
        ("recording", r#"{"fixtures": [{"name": "a"}]}"#, false),
    ] {
        all.push((kind, serde_json::from_str(value).expect("JSON"), is_one));
    }
    all
}

/// The outcome of a list of two models, of which one has no chat template to be seen.
const HUB_LIST: &str = r#"{
    "made_with": "obverse 0.1.0",
    "templates": [{"name": "org--a", "model": "org/a", "models": 2, "verdict": "proved", "reasoning": "none", "content": "plain",
        "tools": "none", "error": null}],
    "models": [
        {"model": "org/a", "commit": "c", "renamed": null, "template": "org--a", "error": null},
        {"model": "org/b", "commit": null, "renamed": null, "template": null,
            "error": {"code": "gated", "message": "closed", "may_pass": true}}]
}"#;

/// What the small validator of these tests says, and what the reference implementation of JSON Schema says.
#[test]
fn the_files_of_the_project_validate_and_others_do_not() {
    let all = of_each_kind();
    let mut questions = Vec::new();
    for (kind, value, is_one) in &all {
        let found = mismatch(&schema(kind), value);
        assert_eq!(found.is_none(), *is_one, "{kind}: {found:?} of {value}");
        questions.push(serde_json::json!({"schema": kind, "value": value}).to_string());
    }
    for kind in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")).expect("a folder")
    {
        let name = kind.expect("an entry").file_name();
        let name = name.to_string_lossy().trim_end_matches(".json").to_owned();
        assert!(
            all.iter().any(|(kind, ..)| *kind == name),
            "nothing tries {name}"
        );
    }
    let Some(answers) = crate::support::reference::ask("../tools/validate.py", &questions) else {
        return;
    };
    for ((kind, value, is_one), answer) in all.iter().zip(answers) {
        assert_eq!(answer == "null", *is_one, "{kind}: {answer} of {value}");
    }
}
