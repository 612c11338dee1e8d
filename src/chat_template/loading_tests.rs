//! Which chat template is found where.

use std::fs;
use std::path::Path;

use super::{LoadError, RenderInput, from_text, load};
use crate::value::Value;

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn shown(path: &Path, with_tools: bool) -> String {
    let source = load(path).unwrap_or_else(|error| panic!("{error}"));
    source
        .select(with_tools)
        .expect("a template")
        .render(&RenderInput::default())
        .expect("a render")
}

#[test]
fn a_config_has_one_template_or_named_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("tokenizer_config.json");
    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"chat_template": "one {{ bos_token }}{{ eos_token }}{{ image_token }}{{ x_token }}", "bos_token": "<b>", "eos_token": {"__type": "AddedToken", "content": "<e>"}, "image_token": "<i>", "add_bos_token": true, "unk_token": null, "extra_special_tokens": {"x_token": "<x>"}, "response_template": {"fields": {}}}"#,
    );
    assert_eq!(shown(&config, false), "one <b><e><i><x>");
    let source = load(folder.path()).expect("a source");
    assert_eq!(
        source.special_tokens.keys().collect::<Vec<_>>(),
        ["bos_token", "eos_token", "image_token", "x_token"]
    );
    assert_eq!(source.config_path.as_deref(), Some(config.as_path()));
    assert!(source.response_template.is_some());
    assert_eq!(
        Some(source.name.as_str()),
        folder.path().file_name().and_then(|name| name.to_str())
    );

    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]}"#,
    );
    assert_eq!(
        (shown(&config, false), shown(&config, true)),
        ("D".to_owned(), "T".to_owned())
    );
    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "rag", "template": "R"}]}"#,
    );
    let source = load(&config).expect("a source");
    let Err(LoadError::NoTemplate { seen, .. }) = source.select(false) else {
        panic!("no default")
    };
    assert_eq!(seen, ["rag"]);
}

#[test]
fn files_beside_a_config_win_over_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("tokenizer_config.json");
    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"chat_template": "config", "bos_token": "<b>"}"#,
    );
    write(
        folder.path(),
        "chat_template.json",
        r#"{"chat_template": "legacy{{ bos_token }}"}"#,
    );
    assert_eq!(shown(folder.path(), false), "legacy<b>");
    assert_eq!(
        shown(&folder.path().join("chat_template.json"), false),
        "legacy<b>"
    );
    write(folder.path(), "chat_template.jinja", "raw{{ bos_token }}\n");
    assert_eq!(
        (shown(folder.path(), false), shown(&config, false)),
        ("raw<b>".to_owned(), "raw<b>".to_owned())
    );
    assert_eq!(
        shown(&folder.path().join("chat_template.jinja"), false),
        "raw<b>"
    );
    write(
        folder.path(),
        "additional_chat_templates/tool_use.jinja",
        "tools",
    );
    assert_eq!(
        (shown(&config, false), shown(&config, true)),
        ("raw<b>".to_owned(), "tools".to_owned())
    );
}

#[test]
fn what_cannot_be_loaded_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(
        load(&at("missing.jinja")),
        Err(LoadError::Unreadable { .. })
    ));
    write(folder.path(), "chat_template.jinja", "x");
    assert!(matches!(
        load(&at("missing.json")),
        Err(LoadError::Unreadable { .. })
    ));
    fs::remove_file(at("chat_template.jinja")).expect("a file");

    let Err(LoadError::NoTemplate { seen, .. }) = load(folder.path()) else {
        panic!("nothing there")
    };
    assert!(seen.is_empty());
    write(folder.path(), "readme.txt", "");
    let Err(LoadError::NoTemplate { seen, .. }) = load(folder.path()) else {
        panic!("nothing there")
    };
    assert_eq!(seen, ["readme.txt"]);
    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"a": 1, "chat_template": null}"#,
    );
    let Err(LoadError::NoTemplate { seen, .. }) = load(&at("tokenizer_config.json")) else {
        panic!("none")
    };
    assert_eq!(seen, ["a", "chat_template"]);
    write(folder.path(), "tokenizer_config.json", "{\"a\": 1,\n]");
    let Err(LoadError::InvalidJson { reason, .. }) = load(folder.path()) else {
        panic!("not JSON")
    };
    assert!(reason.contains("at byte"), "{reason}");
    write(
        folder.path(),
        "tokenizer_config.json",
        r#"{"chat_template": "{% if %}"}"#,
    );
    let Err(LoadError::Template { path, name, .. }) = load(folder.path()) else {
        panic!("no template")
    };
    assert_eq!(
        (path, name.as_str()),
        (at("tokenizer_config.json"), "default")
    );
    fs::write(at("bytes.jinja"), b"ab\xff").expect("a file");
    assert_eq!(
        load(&at("bytes.jinja")).err(),
        Some(LoadError::NotUtf8 {
            path: at("bytes.jinja"),
            offset: 2
        })
    );
    write(folder.path(), "model.gguf", "nothing");
    let Err(LoadError::Unreadable { reason, .. }) = load(&at("model.gguf")) else {
        panic!("not GGUF")
    };
    assert!(reason.contains("GGUF"), "{reason}");
}

#[test]
fn a_text_is_a_source() {
    let source = from_text("stdin", "{{ bos_token }}!").expect("a template");
    assert_eq!((source.name.as_str(), source.templates.len()), ("stdin", 1));
    let mut tokens = crate::value::Map::new();
    tokens.insert("bos_token".to_owned(), Value::from("<s>"));
    let template = source
        .select(true)
        .expect("the default")
        .clone()
        .with_special_tokens(tokens);
    assert_eq!(
        template.render(&RenderInput::default()).as_deref(),
        Ok("<s>!")
    );
}
