//! The cache of the Hugging Face Hub beside its client, `huggingface_hub`, which transformers brings along.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use obverse::hub::{Cache, ModelId};

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
