//! The cache of the Hugging Face Hub beside its client, `huggingface_hub`, which transformers brings along.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Cursor, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use obverse::hub::{
    Cache, Hub, HubAnswer, HubRequest, HubSettings, ModelId, Transport, Unreachable,
    UnreachableKind, Wanted, is_complete,
};

use crate::support::hub::{COMMIT, FakeHub, Files, etag, files};
use crate::support::reference::python;

/// What a script prints with these variables and no others, line by line.
fn told(python: &Path, script: &str, variables: &BTreeMap<&str, &str>) -> Vec<String> {
    let output = Command::new(python)
        .env_clear()
        .envs(variables)
        .args(["-c", script])
        .output()
        .expect("the client runs");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    told.lines().map(str::to_owned).collect()
}

#[test]
fn the_cache_is_where_the_client_has_it() {
    let Some(python) = python() else { return };
    let all = [
        ("HOME", "/h"),
        ("XDG_CACHE_HOME", "/x"),
        ("HF_HOME", "~/hf"),
        ("HUGGINGFACE_HUB_CACHE", "/old"),
        ("HF_HUB_CACHE", "~/new/"),
    ];
    // Each of them alone with the home folder, and each with all before it.
    let mut cases: Vec<BTreeMap<&str, &str>> = Vec::new();
    for until in 1..=all.len() {
        cases.push(all[..until].iter().copied().collect());
        cases.push([all[0], all[until - 1]].into_iter().collect());
    }
    // The client reads the variables as its module is loaded, which one process does once for each case.
    let script = format!(
        "import importlib, os\nfrom huggingface_hub import constants\nfor variables in {}:\n    os.environ.clear(); os.environ.update(variables)\n    importlib.reload(constants); print(constants.HF_HUB_CACHE)",
        serde_json::to_string(&cases).expect("JSON")
    );
    let expected = told(&python, &script, &BTreeMap::new());
    assert_eq!(expected.len(), cases.len());
    for (variables, expected) in cases.iter().zip(expected) {
        let variable = |name: &str| variables.get(name).map(OsString::from);
        let cache = Cache::from_variables(variable).expect("a cache");
        assert_eq!(cache.folder(), Path::new(&expected), "with {variables:?}");
    }
}

#[test]
fn names_are_those_that_the_client_takes() {
    let Some(python) = python() else { return };
    let long = format!("a/{}", "b".repeat(97));
    let names = [
        "Qwen/Qwen3-8B",
        "a/b",
        "a_/_b",
        "a.b/c.d",
        "-a/b",
        "a-/b",
        "a/.b",
        "a/b.",
        "a/b--c",
        "a--b/c",
        "a/b..c",
        "a/b.git",
        "a/b c",
        "a/\u{e9}",
        "a/b/c",
        "/a",
        "a/",
        &long,
        &long[..98],
        "x.git/b",
    ];
    let script = format!(
        "from huggingface_hub.utils import validate_repo_id\nfor name in {}:\n    try:\n        validate_repo_id(name); print('True')\n    except ValueError:\n        print('False')",
        serde_json::to_string(&names).expect("JSON")
    );
    let expected = told(&python, &script, &BTreeMap::from([("HOME", "/h")]));
    for (name, taken) in names.iter().zip(expected) {
        let ours = name.parse::<ModelId>().is_ok();
        assert_eq!(ours.to_string(), taken.to_lowercase(), "{name}");
    }
}

#[test]
fn snapshots_are_those_that_the_client_finds() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = ("0123456789abcdef0123456789abcdef01234567", "f".repeat(40));
    let model = folder.path().join("models--org--name");
    for commit in [one, &two] {
        let snapshot = model.join("snapshots").join(commit);
        std::fs::create_dir_all(&snapshot).expect("a folder");
        std::fs::write(snapshot.join("config.json"), "{}").expect("written");
    }
    std::fs::create_dir_all(model.join("refs/refs/pr")).expect("a folder");
    let gone = "e".repeat(40);
    for (name, commit) in [
        ("main", one),
        ("v1.0", &two),
        ("refs/pr/3", &two),
        ("gone", &gone),
    ] {
        std::fs::write(model.join("refs").join(name), commit).expect("written");
    }
    let cache = Cache::at(folder.path());
    let revisions = ["main", "v1.0", "refs/pr/3", "gone", "v9", one, &two, &gone];
    let script = format!(
        "from huggingface_hub import snapshot_download\nfor revision in {}:\n    try:\n        print(snapshot_download('org/name', revision=revision, cache_dir={:?}, local_files_only=True))\n    except Exception:\n        print()",
        serde_json::to_string(&revisions).expect("JSON"),
        folder.path().display().to_string()
    );
    let expected = told(&python, &script, &BTreeMap::from([("HOME", "/h")]));
    assert_eq!(expected.len(), revisions.len());
    assert!(expected.iter().filter(|path| !path.is_empty()).count() > 3);
    for (revision, path) in revisions.iter().zip(expected) {
        let id: ModelId = format!("org/name@{revision}").parse().expect("a model");
        let found = cache.snapshot(&id).unwrap_or_default();
        assert_eq!(found, Path::new(&path), "{revision}");
    }
}

/// A model with a file of each kind: small ones, one in a folder, a large one that comes from another host.
fn model() -> Files {
    files([
        ("chat_template.jinja", "{{ messages }}".to_owned()),
        (
            "additional_chat_templates/rag.jinja",
            "{{ documents }}".to_owned(),
        ),
        (
            "tokenizer_config.json",
            r#"{"bos_token": "<s>"}"#.to_owned(),
        ),
        ("tokenizer.json", r#"{"added_tokens": []}"#.to_owned()),
        ("config.json", "{}".to_owned()),
    ])
}

/// Carries requests over plain connections, as much of HTTP as the server of the tests has.
struct Plain;

impl Transport for Plain {
    fn get(&self, request: &HubRequest<'_>) -> Result<HubAnswer, Unreachable> {
        let broken =
            |error: std::io::Error| Unreachable::new(UnreachableKind::Broken, error.to_string());
        let rest = request.url.trim_start_matches("http://");
        let (host, path) = rest.split_once('/').expect("a path");
        let mut connection = TcpStream::connect(host).map_err(broken)?;
        let head = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        connection.write_all(head.as_bytes()).map_err(broken)?;
        let mut all = Vec::new();
        connection.read_to_end(&mut all).map_err(broken)?;
        let end = all.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.expect("the end of the headers");
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let headers = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = Cursor::new(all.split_off(end + 4));
        Ok(HubAnswer::new(
            status.expect("a status"),
            headers.collect(),
            Box::new(body),
        ))
    }
}

#[test]
fn the_client_finds_what_was_fetched_and_asks_nobody() {
    let Some(python) = python() else { return };
    let server = FakeHub::new([("org/name", model())]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = HubSettings::default();
    settings.endpoint.clone_from(&server.url);
    let hub = Hub::new(settings, Cache::at(folder.path()), Plain);
    let id: ModelId = "org/name".parse().expect("a model");
    let fetched = hub.fetch(&id, Wanted::Tokenizer).expect("fetched");
    assert_eq!(fetched.commit, COMMIT);
    server.asked();
    let script = format!(
        "import json, os, warnings\nwarnings.simplefilter('error')\nfrom huggingface_hub import hf_hub_download, try_to_load_from_cache, scan_cache_dir, _CACHED_NO_EXIST\n\
         for name in {}:\n    path = hf_hub_download('org/name', name)\n    print(os.path.relpath(os.path.realpath(path), {:?}), open(path).read())\n\
         print([try_to_load_from_cache('org/name', name) is _CACHED_NO_EXIST for name in ('chat_template.json', 'generation_config.json', 'config.json')])\n\
         found = scan_cache_dir()\nprint(len(found.warnings), [repo.repo_id for repo in found.repos], [sorted(revision.refs) for repo in found.repos for revision in repo.revisions])",
        serde_json::to_string(&[
            "chat_template.jinja",
            "additional_chat_templates/rag.jinja",
            "tokenizer_config.json",
            "tokenizer.json"
        ])
        .expect("JSON"),
        std::fs::canonicalize(folder.path())
            .expect("a folder")
            .display()
            .to_string(),
    );
    let cache = folder.path().display().to_string();
    let variables = BTreeMap::from([
        ("HOME", "/h"),
        ("HF_HUB_CACHE", cache.as_str()),
        ("HF_HUB_OFFLINE", "1"),
        ("HF_ENDPOINT", server.url.as_str()),
    ]);
    let told = told(&python, &script, &variables);
    let model = model();
    let mut expected: Vec<String> = [
        "chat_template.jinja",
        "additional_chat_templates/rag.jinja",
        "tokenizer_config.json",
        "tokenizer.json",
    ]
    .into_iter()
    .map(|name| {
        let content = &model[name];
        let text = String::from_utf8_lossy(content);
        format!("models--org--name/blobs/{} {text}", etag(name, content))
    })
    .collect();
    expected.push("[True, True, False]".to_owned());
    expected.push("0 ['org/name'] [['main']]".to_owned());
    assert_eq!(told, expected);
    assert_eq!(server.asked(), []);
}

#[test]
fn what_the_client_has_fetched_is_found_and_not_asked_for_again() {
    let Some(python) = python() else { return };
    let server = FakeHub::new([("org/name", model())]);
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().display().to_string();
    let variables = BTreeMap::from([
        ("HOME", home.as_str()),
        ("HF_HUB_CACHE", home.as_str()),
        ("HF_ENDPOINT", server.url.as_str()),
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("NO_PROXY", "*"),
    ]);
    let fetch = |names: &[&str]| {
        let script = format!(
            "from huggingface_hub import hf_hub_download\nfrom huggingface_hub.errors import EntryNotFoundError\nfor name in {}:\n    try:\n        print(hf_hub_download('org/name', name))\n    except EntryNotFoundError:\n        print('none')",
            serde_json::to_string(names).expect("JSON")
        );
        told(&python, &script, &variables)
    };
    let told = fetch(&[
        "chat_template.jinja",
        "tokenizer_config.json",
        "generation_config.json",
    ]);
    assert_eq!(told[2], "none");
    server.asked();
    let cache = Cache::at(folder.path());
    let id: ModelId = "org/name".parse().expect("a model");
    let snapshot = cache.snapshot(&id).expect("a snapshot");
    assert!(Path::new(&told[0]).starts_with(&snapshot));
    assert!(is_complete(&snapshot, Wanted::ChatTemplates));
    assert!(!is_complete(&snapshot, Wanted::Tokenizer));
    let mut settings = HubSettings::default();
    settings.endpoint.clone_from(&server.url);
    let hub = Hub::new(settings, cache, Plain);
    let fetched = hub.fetch(&id, Wanted::Tokenizer).expect("fetched");
    assert_eq!(fetched.snapshot, snapshot);
    assert!(is_complete(&snapshot, Wanted::Tokenizer));
    let asked = server.asked();
    let asked_for = |name: &str| asked.iter().any(|asked| asked.path.ends_with(name));
    assert!(
        asked_for("/tokenizer.json") && asked_for("/rag.jinja"),
        "{asked:?}"
    );
    assert!(
        !asked_for("/chat_template.jinja") && !asked_for("/tokenizer_config.json"),
        "{asked:?}"
    );
    // Another revision with the same contents: the blobs of the client are taken by their tags.
    let request: ModelId = "org/name@refs/pr/1".parse().expect("a model");
    hub.fetch(&request, Wanted::Tokenizer).expect("fetched");
    let paths: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(
        paths,
        ["/api/models/org/name/revision/refs%2Fpr%2F1?blobs=true"]
    );
}
