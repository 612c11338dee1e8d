//! `obverse read` and `obverse derive --conversation`.

use crate::bench::Bench;

const CHAT: &str = "{%- if tools %}<tools>{{ tools | tojson }}</tools>{% endif -%}\
{%- for m in messages -%}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{%- endfor -%}\
{%- if add_generation_prompt -%}<assistant>{%- endif -%}";

const TEXT: &str = "<tools>[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]</tools><user>Hé</user><assistant>Ho.\n</assistant><user>a\nb</user><assistant>";

fn bench() -> Bench {
    Bench::new().file("talk.jinja", CHAT).file("talk.txt", TEXT)
}

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_conversation_comes_back() {
    let bench = bench();
    let read = parsed(&bench.run("read talk.jinja talk.txt").done());
    let messages = serde_json::json!([
        {"role": "user", "content": "Hé"},
        {"role": "assistant", "content": "Ho.\n"},
        {"role": "user", "content": "a\nb"},
    ]);
    assert_eq!(read["messages"], messages, "{read}");
    assert_eq!(read["tools"][0]["function"]["name"], "f");
    assert_eq!(read["add_generation_prompt"], true);
    assert_eq!(read["exact"], true);
    let span = &read["spans"][1];
    let (start, end) = (span["start"].as_u64(), span["end"].as_u64());
    let shown = &TEXT[start.expect("a byte") as usize..end.expect("a byte") as usize];
    assert_eq!((span["part"].as_str(), shown), (Some("content"), "Hé"));
    // From standard input as well.
    let same = bench.run_with("read talk.jinja", TEXT).done();
    assert_eq!(parsed(&same), read);
}

#[test]
fn a_format_takes_the_place_of_its_chat_template() {
    let bench = bench();
    let format = bench.run("derive -q --conversation talk.jinja").done();
    let bench = bench.file("format.json", &format);
    let read = parsed(&bench.run("read format.json talk.txt").done());
    assert_eq!(read["messages"][2]["content"], "a\nb");
    assert!(read.get("exact").is_none(), "nothing was rendered: {read}");
    let broken = format.replace("\"version\": 1", "\"version\": 7");
    let bench = bench.file("broken.json", broken);
    let told = bench.run("read broken.json talk.txt").refused(2);
    assert!(
        told.contains("conversation-format") && told.contains("version 7"),
        "{told}"
    );
}

#[test]
fn what_does_not_fit_says_where() {
    let bench = bench();
    let run = bench.run_with("read talk.jinja", "<user>one</user><assistant>two");
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("error[conversation-unfit]"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("expected \"</assistant>"),
        "{}",
        run.stderr
    );
    assert_eq!(parsed(&run.stdout)["messages"][0]["content"], "one");
    // What was read to its end is there, whatever follows.
    for text in ["<user>one</user><bogus>", "<user>one</user><assist"] {
        let run = bench.run_with("read talk.jinja", text);
        assert_eq!(run.status, 1, "{}", run.stderr);
        let read = parsed(&run.stdout);
        assert_eq!(read["messages"][0]["content"], "one", "{text}");
        assert_eq!(read["messages"][1], serde_json::Value::Null, "{text}");
    }
}

#[test]
fn lines_are_answered_in_order() {
    let lines = "{\"id\": 1, \"text\": \"<user>one</user>\"}\n{\"id\": 2, \"text\": \"nothing\"}\n{\"text\": 5}\n";
    let run = bench().run_with("read talk.jinja --jsonl", lines);
    assert_eq!(run.status, 1);
    let answers: Vec<_> = run.stdout.lines().map(parsed).collect();
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["messages"][0]["content"], "one");
    assert_eq!(answers[1]["error"]["kind"], "conversation-unfit");
    assert_eq!(answers[1]["error"]["at"], 0);
    assert_eq!(answers[2]["error"]["kind"], "input");
}

#[test]
fn a_text_that_is_too_long_is_told_with_what_allows_more() {
    let bench = bench();
    for verb in ["read", "spans"] {
        let run = bench.run(&format!("{verb} talk.jinja talk.txt --max-text 1K"));
        assert_eq!(run.status, 0, "{}", run.stderr);
        let run = bench.run(&format!("{verb} talk.jinja talk.txt --max-text 9"));
        let told = run.refused(2);
        for told_of in [
            "error[limit]: talk.txt is longer than the limit of 9 bytes",
            "= help: --max-text allows more; --jsonl takes many conversations",
        ] {
            assert!(told.contains(told_of), "{told}");
        }
    }
    let line = "{\"text\": \"<user>one</user>\"}";
    let run = bench.run_with("read talk.jinja --jsonl --max-text 9", line);
    assert!(run.stdout.contains("longer than the limit of 9 bytes"));
}
