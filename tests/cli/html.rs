//! `obverse derive --html` and `obverse debug --html`: pages in one file. What a browser makes of them is tried in `site/tests`.

use serde_json::Value;

use crate::bench::{Bench, CHAT};

/// The document that a page holds. The page has no other script than its own, and no address.
fn page(html: &str) -> Value {
    assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
    assert!(html.contains("default-src 'none'"));
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script>").count(), 2);
    assert!(!html.contains("http://") && !html.contains("https://"));
    let data = html.split("id=\"page\">").nth(1).expect("the document");
    let data = data.split("</script>").next().expect("its end");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn a_derivation_is_written_as_a_page() {
    let bench = Bench::new().file("chat.jinja", CHAT);
    let run = bench.run("derive chat.jinja --html page.html");
    assert!(run.stderr.contains("wrote page.html"), "{}", run.stderr);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("start_anchor"));
    let page = page(&bench.read("page.html"));
    assert_eq!(page["title"], "chat");
    assert_eq!(page["report"]["verified"], true);
    let delimiters = page["template"]["delimiters"].as_array().expect("a list");
    assert_eq!(delimiters[0]["side"], "anchor");
    assert_ne!(delimiters[0]["evidence"].as_array().map(Vec::len), Some(0));
    let samples = page["samples"].as_array().expect("a list");
    assert!(!samples.is_empty());
    for sample in samples {
        let steps = &sample["replay"]["steps"];
        let lengths = steps.as_object().expect("an object").iter();
        let lengths: Vec<usize> = lengths
            .filter(|(name, _)| *name != "states")
            .map(|(_, list)| list.as_array().expect("a list").len())
            .collect();
        assert!(lengths[0] > 1 && lengths.iter().all(|length| *length == lengths[0]));
    }
}

#[test]
fn what_would_be_debugged_is_written_as_a_page() {
    let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{1b}[2J";
    let bench = Bench::new().file(
        "response",
        format!("<think>{hostile}</think>Hi</assistant>\n"),
    );
    let run = bench.run("debug template.json response --chunks 1 --html page.html");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(run.stderr, "wrote page.html\n");
    let html = bench.read("page.html");
    assert!(!html.contains(['\u{2028}', '\u{1b}']));
    let page = page(&html);
    let replay = &page["samples"][0]["replay"];
    assert!(replay["text"].as_str().expect("a text").contains(hostile));
    assert!(replay["steps"]["arrived"].as_array().expect("a list").len() > 50);
    let printed = bench
        .run("debug template.json response --chunks 1 --html -")
        .done();
    assert_eq!(printed, html);
}

#[test]
fn a_page_is_written_as_other_files_are() {
    let bench = Bench::new()
        .file("chat.jinja", CHAT)
        .file("page.html", "before");
    let several = bench.run("derive chat.jinja chat.jinja --out-dir out --html page.html");
    assert!(several.refused(2).contains("--html is for one source"));
    assert_eq!(bench.read("page.html"), "before");
    let path = bench.path("page.html");
    let mut permissions = std::fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).expect("a file");
    for arguments in [
        "derive chat.jinja --html page.html",
        "debug template.json --html page.html",
    ] {
        let refused = bench.run(arguments).refused(2);
        assert!(refused.contains("read-only"), "{refused}");
        assert_eq!(bench.read("page.html"), "before");
    }
    let run = bench.run("derive chat.jinja --html page.html --force");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(page(&bench.read("page.html"))["title"], "chat");
    let run = bench.run("debug template.json --html page.html --screenshot 80x24");
    assert_eq!(run.status, 2);
}

/// A page replaces a page, and nothing else: the file may be named by mistake.
#[test]
fn a_page_replaces_nothing_but_a_page() {
    let chat = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    let template = r#"{"start_anchor": "<assistant>", "fields": {"content": {"close": "</>"}}}"#;
    let bench = Bench::new()
        .file("chat.jinja", chat)
        .file("template.json", template)
        .file("response.txt", "Hi.</>");
    for (command, file, text) in [
        ("derive --html chat.jinja chat.jinja", "chat.jinja", chat),
        ("derive --report chat.jinja chat.jinja", "chat.jinja", chat),
        (
            "debug --html template.json template.json response.txt",
            "template.json",
            template,
        ),
    ] {
        let run = bench.run(command);
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains("error[protected]"), "{run}");
        assert_eq!(bench.read(file), text, "{command}");
    }
    for _ in 0..2 {
        bench.run("derive --html page.html chat.jinja");
        assert!(bench.read("page.html").starts_with("<!DOCTYPE html>"));
    }
}
