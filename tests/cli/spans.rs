//! `obverse spans` and `obverse annotate`.

use crate::bench::Bench;
use insta::assert_snapshot;
use serde_json::Value;

const CHAT: &str = "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}</s>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

const MESSAGES: &str =
    r#"[{"role": "user", "content": "é <b>"}, {"role": "assistant", "content": "Ä&\u001b[31m"}]"#;

fn bench() -> Bench {
    Bench::new()
        .file("turns.jinja", CHAT)
        .file("messages.json", MESSAGES)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn spans_are_told_in_bytes_and_in_characters() {
    let told = bench()
        .run("spans turns.jinja --messages messages.json --characters")
        .done();
    let told = json(&told);
    let text = told["text"].as_str().expect("a text");
    let (start, end) = (&told["generated"][0][0], &told["generated"][0][1]);
    let at = |value: &Value| usize::try_from(value.as_u64().expect("an offset")).expect("small");
    assert_eq!(&text[at(start)..at(end)], "Ä&\u{1b}[31m</s>\n");
    let (start, end) = (
        &told["generated_characters"][0][0],
        &told["generated_characters"][0][1],
    );
    let cut: String = text
        .chars()
        .skip(at(start))
        .take(at(end) - at(start))
        .collect();
    assert_eq!(cut, "Ä&\u{1b}[31m</s>\n");
    let parts: Vec<_> = told["spans"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|span| {
            (
                span["message"].as_u64(),
                span["part"].as_str().expect("a part"),
            )
        })
        .collect();
    let of =
        |message: u64| ["message", "header", "content", "end"].map(|part| (Some(message), part));
    assert_eq!(parts, [of(0), of(1)].concat());
}

/// A page holds nothing that a text could make it do.
#[test]
fn a_page_is_harmless() {
    let page = bench()
        .run("spans turns.jinja --messages messages.json --format html")
        .done();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(
        page.contains("é &lt;b&gt;") && !page.contains("<b>"),
        "{page}"
    );
    assert!(page.contains("Ä&amp;\\u{1b}[31m") && !page.contains('\u{1b}'));
    assert!(!page.contains("<script"));
    assert!(page.contains("title=\"message 1, assistant content, generated\""));
    let lines =
        "{\"id\": \"<i>\", \"messages\": [{\"role\": \"assistant\", \"content\": \"a\"}]}\n{}\n";
    let run = bench().run_with("spans turns.jinja --jsonl --format html", lines);
    assert!(run.stdout.contains("<h2>&lt;i&gt;</h2>") && run.stdout.ends_with("</html>\n"));
    assert!(run.stdout.contains("<p class=\"error\">"));
}

/// A text alone is read back and then told of as its messages are.
#[test]
fn a_text_alone_is_told_of_as_its_messages_are() {
    let bench = bench();
    let messages = r#"[{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]"#;
    let bench = bench.file("plain.json", messages);
    let text = bench.run("render turns.jinja --messages plain.json").done();
    let bench = bench.file("text.txt", &text);
    assert_eq!(
        bench.run("spans turns.jinja text.txt").done(),
        bench.run("spans turns.jinja --messages plain.json").done()
    );
    let run = bench.run_with("spans turns.jinja -", "no conversation");
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("error[conversation-unfit]"),
        "{}",
        run.stderr
    );
    let run = bench.run("spans turns.jinja text.txt --messages plain.json");
    assert_eq!(run.status, 2);
}

#[test]
fn lines_are_answered_in_order_and_an_error_is_one() {
    let lines = "{\"id\": 1, \"messages\": [{\"role\": \"assistant\", \"content\": \"a\"}]}\n{\"messages\": 5}\n";
    assert_snapshot!(bench().run_with("spans turns.jinja --jsonl", lines), @r#"
    exit 1
    --- stdout
    {"id": 1, "text": "<assistant>a</s>\n", "spans": [{"message": 0, "role": "assistant", "part": "message", "start": 0, "end": 17}, {"message": 0, "role": "assistant", "part": "header", "start": 0, "end": 11}, {"message": 0, "role": "assistant", "part": "content", "start": 11, "end": 12}, {"message": 0, "role": "assistant", "part": "end", "start": 12, "end": 17}], "generated": [[11, 17]]}
    {"error": {"kind": "input", "message": "messages must be a list, not a number"}}
    --- stderr
    "#);
}

#[test]
fn text_is_coloured_and_escaped() {
    let run =
        bench().run("spans turns.jinja --messages messages.json --format text --color always");
    assert!(run.stdout.contains("\\u{1b}[31m"), "{}", run.stdout);
    assert!(!run.stdout.contains("\u{1b}[31mÄ"));
    assert!(run.stdout.contains("\u{1b}[32m"), "{}", run.stdout);
}

#[cfg(not(feature = "tokenizers"))]
#[test]
fn without_tokenizers_it_is_said() {
    let run = bench().run("spans turns.jinja --messages messages.json --tokenizer none.json");
    assert!(run.stderr.contains("error[tokenizer]"), "{}", run.stderr);
}

#[cfg(feature = "tokenizers")]
#[test]
fn tokens_are_told_with_their_mask() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tokenizer.json");
    let told = bench()
        .file(
            "tokenizer.json",
            std::fs::read_to_string(path).expect("a file"),
        )
        .run("spans turns.jinja --messages messages.json --tokenizer tokenizer.json")
        .done();
    let told = json(&told);
    let list = |key: &str| told[key].as_array().expect("a list").clone();
    let (ids, mask, tokens) = (list("input_ids"), list("assistant_masks"), list("tokens"));
    assert_eq!((ids.len(), mask.len()), (tokens.len(), tokens.len()));
    let generated = &told["generated"][0];
    for (token, is) in tokens.iter().zip(&mask) {
        let within = token[0].as_u64() >= generated[0].as_u64();
        assert_eq!(is.as_u64() == Some(1), within, "{token}");
    }
    assert!(mask.iter().any(|is| is.as_u64() == Some(1)));
}

/// The marks are put between the characters of the source.
#[test]
fn a_chat_template_is_marked() {
    let bench = bench();
    let run = bench.run("annotate turns.jinja");
    assert!(run.stderr.contains("proved with"), "{}", run.stderr);
    assert_eq!(run.status, 0);
    let marked = run.stdout;
    let mut rest = marked.as_str();
    for c in CHAT.chars() {
        let at = rest.find(c).expect("everything of the source");
        rest = &rest[at + c.len_utf8()..];
    }
    let again = bench.file("marked.jinja", &marked);
    let render = |name: &str| {
        again
            .run(&format!("render {name} --messages messages.json"))
            .done()
    };
    assert_eq!(render("turns.jinja"), render("marked.jinja"));
    let run = again.run("annotate marked.jinja");
    assert!(run.stderr.contains("it has marks"), "{}", run.stderr);
    assert_eq!((run.status, run.stdout), (0, marked));
}

#[test]
fn what_stands_in_the_way_is_shown() {
    let bench = Bench::new().file(
        "ends.jinja",
        "{% for m in messages %}<{{ m.role }}>\n{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>\n{% endif %}",
    );
    assert_snapshot!(bench.run("annotate ends.jinja"), @r"
    exit 1
    --- stdout
    --- stderr
    error[no-place-for-marks]: this writes what the model writes in one conversation, and in another it writes something else
     --> ends.jinja:1:24
      |
    1 | {% for m in messages %}<{{ m.role }}>
      |                        ^
    ");
    let wrong = bench.file(
        "wrong.jinja",
        "{% for m in messages %}{% generation %}<{{ m.role }}>{{ m.content }}</s>{% endgeneration %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    );
    assert_snapshot!(wrong.run("annotate wrong.jinja"), @r#"
    exit 1
    --- stdout
    --- stderr
    error[marks-not-proved]: the marks that were found are not right for a conversation: "<user>Why is the sky blue?</s>" is marked and not written by the model (user)
    --> wrong.jinja
     = help: the conversation: [{"role": "user", "content": "Why is the sky blue?"}]
    "#);
}
