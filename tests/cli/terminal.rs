//! What goes to a terminal: `obverse debug`, which gives back what it takes over and shows what is still arriving; and results, in
//! which nothing acts upon the terminal.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::bench::{Bench, binary};
use crate::pty::Pty;

fn debug(bench: &Bench, arguments: &[&str]) -> Pty {
    let arguments: Vec<&str> = ["debug", "template.json"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let pty = Pty::start(binary(), &arguments, &bench.path("."));
    pty.wait_for("3 State");
    pty
}

fn greeting() -> Bench {
    Bench::new().file("response", "<think>hm</think>Hi</assistant>\n")
}

#[test]
fn the_terminal_is_given_back_at_every_end() {
    let bench = greeting();
    for (keys, signal) in [
        ("q", None),
        ("\u{3}", None),
        ("e\u{3}", None),
        ("", Some("TERM")),
        ("", Some("HUP")),
        ("", Some("INT")),
        (" ", Some("TERM")),
    ] {
        let mut pty = debug(&bench, &["response"]);
        assert!(
            pty.left_behind().len() >= 5,
            "it takes the terminal over: {:?}",
            pty.left_behind()
        );
        pty.write(keys);
        if let Some(signal) = signal {
            pty.signal(signal);
        }
        let status = pty.end();
        assert_eq!(
            (status, pty.left_behind()),
            (0, vec![]),
            "{keys:?} {signal:?}"
        );
    }
}

#[test]
fn a_session_is_recorded_when_it_is_told_to_end() {
    let bench = greeting();
    let mut pty = debug(&bench, &["response", "--record", "session.json"]);
    pty.write("G");
    pty.wait_for("end byte");
    pty.signal("TERM");
    assert_eq!(pty.end(), 0);
    assert!(bench.read("session.json").contains("obverse_session"));
}

#[test]
fn another_size_is_drawn_anew() {
    let mut pty = debug(&greeting(), &["response"]);
    pty.resize(40, 12);
    pty.wait_until("a smaller screen", |pty| {
        let screen = pty.screen();
        screen.contains("▶1 Response") && !screen.contains("3 State")
    });
    pty.resize(120, 40);
    pty.wait_for("3 State");
    pty.write("q");
    assert_eq!(pty.end(), 0);
}

#[test]
fn a_file_that_grows_is_followed() {
    let bench = Bench::new().file("growing", "<think>h");
    let mut pty = debug(&bench, &["--follow", "growing"]);
    pty.wait_for("byte 8/8 live");
    let mut file = OpenOptions::new()
        .append(true)
        .open(bench.path("growing"))
        .expect("a file");
    file.write_all("é</th".as_bytes()).expect("a file");
    pty.wait_for("byte 14/14 live");
    pty.wait_for("holds 4 B </th");
    // One looks back while more arrives, and goes along again.
    pty.write("g");
    pty.wait_for("byte 0/14");
    file.write_all(b"ink>Hi").expect("a file");
    pty.wait_for("byte 0/20");
    pty.write("G");
    pty.wait_for("byte 20/20 live");
    file.write_all(b"!").expect("a file");
    pty.wait_for("byte 21/21 live");
    pty.write("q");
    assert_eq!((pty.end(), pty.left_behind()), (0, vec![]));
}

#[test]
fn a_file_that_cannot_be_followed_is_told() {
    let mut pty = debug(&Bench::new(), &["--follow", "nowhere"]);
    pty.wait_for("cannot read nowhere");
    pty.write("q");
    assert_eq!(pty.end(), 0);
}

#[test]
fn standard_input_is_shown_as_it_arrives_and_keys_come_from_the_terminal() {
    let bench = Bench::new();
    let program = binary().display();
    let script = format!(
        "(printf '<think>h'; until [ -e go ]; do sleep 0.05; done; printf 'm</think>Hi</assistant>') \
         | '{program}' debug template.json -"
    );
    let mut pty = Pty::start(Path::new("sh"), &["-c", &script], &bench.path("."));
    pty.wait_for("byte 8/8 live");
    // What has arrived can be worked on meanwhile.
    pty.write("e");
    pty.wait_for("a copy of what has arrived");
    pty.write("!\u{1b}");
    pty.wait_for("byte 9/9");
    pty.wait_until("the end of the edit", |pty| {
        !pty.screen().contains("editing")
    });
    pty.write("o\u{1b}[A\r");
    pty.wait_for("byte 8/8 live");
    let _bench = bench.file("go", "");
    pty.wait_for("the response is complete");
    pty.wait_for("byte 31/31");
    // The copy was edited, and is in no file.
    pty.write("q");
    pty.wait_for("not saved; quit?");
    pty.write("y");
    assert_eq!((pty.end(), pty.left_behind()), (0, vec![]));
}

#[test]
fn what_is_copied_goes_to_the_terminals_clipboard() {
    let mut pty = debug(&greeting(), &["response", "--keys", "G4<down>"]);
    pty.wait_for("end byte");
    pty.write("yY");
    pty.wait_for("copied $.thinking");
    // `hm` and `$.thinking`, in base64.
    for text in ["aG0=", "JC50aGlua2luZw=="] {
        let wanted = format!("\u{1b}]52;c;{text}");
        pty.wait_until("a copy", |pty| pty.bytes().contains(&wanted));
    }
    pty.write("q");
    assert_eq!(pty.end(), 0);
}

#[test]
fn the_mouse_and_pastes_arrive() {
    let mut pty = debug(&greeting(), &["response"]);
    // A click on the sixth column of the response, as terminals report it.
    pty.write("\u{1b}[<0;8;3M\u{1b}[<0;8;3m");
    pty.wait_for("byte 5/");
    // A paste is text where there is something to write, and no keys elsewhere.
    pty.write("\u{1b}[200~q\u{1b}[201~/");
    pty.wait_for("search");
    pty.write("\u{1b}[200~</th\u{1b}[201~\r");
    pty.wait_for("byte 13/");
    pty.write("q");
    assert_eq!(pty.end(), 0);
}

/// Markers, responses and messages with control characters of both kinds, and marks that turn the direction of writing.
#[test]
fn results_do_not_act_upon_the_terminal() {
    let evil = "\u{9b}31m\u{202e}\u{7}";
    let chat = crate::bench::CHAT.replace("<assistant>", &format!("<assistant{evil}>"));
    let bench = Bench::new()
        .file("evil.jinja", chat)
        .file("response", format!("Hi{evil}</assistant>\n"))
        .file("messages.json", "[{\"role\": \"user\", \"content\": \"a\u{9b}\u{202e}\"}]")
        .file("evil.json", "{\"start_anchor\": \"a\u{9b}\u{202e}\", \"fields\": {\"c\u{9b}\u{202e}\": {\"opne\": 1}}}");
    for arguments in [
        "derive evil.jinja",
        "derive evil.jinja --report -",
        "derive evil.jinja --explain",
        "inspect evil.jinja",
        "inspect evil.jinja --format json",
        "render evil.jinja --messages messages.json",
        "render evil.jinja --messages messages.json --origins",
        "render evil.jinja --messages messages.json --origins --format json",
        "parse template.json response",
        "parse template.json response --events --state",
        "lint evil.json",
        "lint evil.json --format json",
        "lint evil.json --format concise",
        "lint evil.json --format github",
        "lint evil.json --format sarif",
        "lint evil.json --format junit",
        "lint evil.json --format markdown",
        "lint evil.json --diff",
    ] {
        let mut arguments: Vec<&str> = arguments.split(' ').collect();
        arguments.push("--no-pager");
        let mut pty = Pty::start(binary(), &arguments, &bench.path("."));
        pty.end();
        let bytes = pty.bytes();
        assert!(!bytes.is_empty(), "{arguments:?}");
        let harmful = ['\u{9b}', '\u{202e}', '\u{7}'];
        assert!(!bytes.contains(harmful), "{arguments:?}: {bytes:?}");
    }
}

/// A chat template whose calls no parser reads, so that the report is long.
const LONG: &str = "{% for m in messages %}{% if m.role == 'assistant' %}<bot>{{ m.content }}{% for c in m.tool_calls or [] %}\
    <do>{{ c.function.name }} {% for k, v in c.function.arguments.items() %}{{ k }}={{ v }},{% endfor %}</do>{% endfor %}<end>\
    {% else %}<{{ m.role }}>{{ m.content }}<end>{% endif %}{% endfor %}{% if add_generation_prompt %}<bot>{% endif %}";

/// Runs with a pager of which it can be told that it was asked.
fn paged(bench: &Bench, arguments: &[&str]) -> String {
    let binary = binary().display().to_string();
    let mut all = vec!["PAGER=sed -e s/^/paged:/", &*binary];
    all.extend(arguments);
    let mut pty = Pty::start(Path::new("/usr/bin/env"), &all, &bench.path("."));
    pty.end();
    anstream::adapter::strip_str(&pty.bytes()).to_string()
}

#[test]
fn long_output_goes_through_a_pager_and_pages_are_made_to_be_read() {
    let bench = Bench::new();
    let text = paged(&bench, &["explain", "dollar"]);
    assert!(text.starts_with("paged:dollar\r\n"), "{text}");
    assert!(!text.contains("## ") && !text.contains("**"), "{text}");
    let text = paged(&bench, &["derive", "chat.jinja", "--explain=all"]);
    assert!(text.contains("paged:  anchor "), "{text}");
    // The result follows what people are told, and is not in the pager.
    assert!(text.contains("\n  \"start_anchor\": "), "{text}");
    // A long report is read from the beginning.
    let long = Bench::new().file("chat.jinja", LONG);
    let text = paged(&long, &["derive", "chat.jinja"]);
    let (verdict, next) = (
        text.find("paged:NOT PROVED"),
        text.find("paged:  what to do next"),
    );
    let rows = text.find("paged:  anchor ");
    assert!(verdict.is_some() && verdict < next && next < rows, "{text}");
    for arguments in [
        &["explain", "dollar", "--no-pager"][..],
        // Short output is not worth a pager.
        &["derive", "chat.jinja"],
    ] {
        let text = paged(&bench, arguments);
        assert!(!text.contains("paged:"), "{text}");
    }
    let plain = bench.run("explain dollar").done();
    assert!(plain.starts_with("## dollar\n"), "{plain}");
}

/// Findings are read from the first one, with the count of them behind the last.
#[test]
fn long_lists_of_findings_go_through_a_pager() {
    let bench = Bench::new();
    for at in 0..6 {
        let delimiters = format!(r#"{{"open": "<{at}>", "close": "(x"}}"#);
        let bad = format!(r#"{{"fields": {{"content": {delimiters}}}}}"#);
        std::fs::write(bench.path(&format!("bad{at}.json")), bad).expect("written");
    }
    let names: Vec<_> = (0..6).map(|at| format!("bad{at}.json")).collect();
    let lint: Vec<_> = ["lint"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let text = paged(&bench, &lint);
    let (first, last) = (text.find("bad0.json"), text.rfind("paged:"));
    assert!(text.starts_with("paged:") && first < last, "{text}");
    assert!(
        text.trim_end()
            .lines()
            .last()
            .is_some_and(|line| line.ends_with("in 6 files")),
        "{text}"
    );
    let text = paged(&bench, &["lint", "bad0.json"]);
    assert!(
        text.contains("bad0.json") && !text.contains("paged:"),
        "{text}"
    );
}

/// Work that runs longer than a second shows that it goes on, and leaves nothing of that behind. The template comes through a pipe and
/// is written once the bar is seen, so that on no machine the work is done before.
#[test]
fn work_that_takes_its_time_shows_that_it_goes_on() {
    let bench = Bench::new();
    let pipe = bench.path("slow.jinja");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let mut pty = Pty::start(binary(), &["derive", "-v", "slow.jinja"], &bench.path("."));
    pty.wait_until("the bar", |pty| {
        pty.screen()
            .lines()
            .any(|line| line.trim_end().ends_with("s  slow.jinja"))
    });
    std::fs::write(&pipe, crate::bench::CHAT).expect("a pipe");
    assert_eq!(pty.end(), 0);
    let screen = pty.screen();
    assert!(
        !screen
            .lines()
            .any(|line| line.trim_end().ends_with("s  slow.jinja")),
        "{screen}"
    );
    let mut pty = Pty::start(binary(), &["derive", "chat.jinja"], &bench.path("."));
    pty.end();
    assert!(!pty.bytes().contains("s  chat.jinja"), "{}", pty.bytes());
}

/// So does the reading of a long response or conversation, of which the source is slow here.
#[test]
fn reading_that_takes_its_time_shows_that_it_goes_on() {
    for (arguments, text, told) in [
        (
            "parse template.json slow",
            "Hi</assistant>",
            "\"content\": \"Hi\"",
        ),
        (
            "read chat.jinja slow",
            "<user>Hi</user>",
            "\"content\": \"Hi\"",
        ),
    ] {
        let bench = Bench::new();
        let pipe = bench.path("slow");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut pty = Pty::start(binary(), &arguments, &bench.path("."));
        let is_bar = |line: &str| line.trim_end().ends_with("s  slow");
        pty.wait_until("the bar", |pty| pty.screen().lines().any(is_bar));
        std::fs::write(&pipe, text).expect("a pipe");
        assert_eq!(pty.end(), 0);
        let screen = pty.screen();
        assert!(!screen.lines().any(is_bar), "{screen}");
        assert!(pty.bytes().contains(told), "{}", pty.bytes());
    }
}

/// Results that are written one by one are seen themselves where they come to the terminal, be it through a pipe; a bar would stand between them.
#[test]
fn no_bar_stands_between_results() {
    let bench = Bench::new();
    let program = binary().display();
    let script = |end: &str| {
        format!(
            "line='{{\"response\": \"Hi</assistant>\"}}'; \
             (echo \"$line\"; sleep 2; echo \"$line\") | '{program}' parse template.json --jsonl {end}"
        )
    };
    let is_bar = |text: &str| text.contains("s  <stdin>");
    // All at once, since each of them waits.
    let started = |end: &'static str| {
        let pty = Pty::start(Path::new("sh"), &["-c", &script(end)], &bench.path("."));
        (end, pty)
    };
    let ends = ["", "| cat", "> out", "> /dev/null"].map(started);
    for (end, mut pty) in ends {
        assert_eq!(pty.end(), 0);
        let bytes = pty.bytes();
        if end.starts_with('>') {
            assert!(is_bar(&bytes), "{end}: {bytes}");
        } else {
            assert_eq!(bytes.matches("\"message\"").count(), 2, "{bytes}");
            assert!(!is_bar(&bytes), "{end}: {bytes}");
        }
    }
}

/// The report is what people look at, and a response template behind it would push it off the screen. What to do next ends it.
#[test]
fn the_report_is_what_one_sees_last() {
    // Arguments without quotes, in which a text cannot be told from a list.
    let call = "<call>{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% if not loop.last %}, {% endif %}{% endfor %})</call>";
    let calls = format!("{{% for c in message.tool_calls or [] %}}{call}{{% endfor %}}");
    let chat = crate::bench::CHAT.replace(
        "{{ message.content }}",
        &format!("{{{{ message.content }}}}{calls}"),
    );
    let bench = Bench::new().file("part.jinja", chat);
    let arguments = ["derive", "part.jinja", "--no-pager"];
    let mut pty = Pty::start(binary(), &arguments, &bench.path("."));
    assert_eq!(pty.end(), 1);
    let screen = pty.screen();
    assert!(screen.contains("what to do next"), "{screen}");
    assert!(screen.contains("obverse debug part.jinja"), "{screen}");
    assert!(
        screen.contains("template is written all the same"),
        "{screen}"
    );
    let bytes = pty.bytes();
    let place = |text: &str| {
        bytes
            .find(text)
            .unwrap_or_else(|| panic!("{text} in {bytes}"))
    };
    assert!(place("\"start_anchor\": ") < place("rounds: "), "{bytes}");
    // The verdict is not pushed off the screen by what is told of the format.
    let plain = anstream::adapter::strip_str(&bytes).to_string();
    assert!(
        plain.find("\n  anchor ") < plain.find("NOT WHOLLY EXPRESSIBLE"),
        "{plain}"
    );
    // Behind all the evidence, too.
    let mut pty = Pty::start(
        binary(),
        &["derive", "part.jinja", "--explain=all", "--no-pager"],
        &bench.path("."),
    );
    assert_eq!(pty.end(), 1);
    let bytes = anstream::adapter::strip_str(&pty.bytes()).to_string();
    let place = |text: &str| {
        bytes
            .find(text)
            .unwrap_or_else(|| panic!("{text} in {bytes}"))
    };
    assert!(place("\n  anchor ") < place("what to do next"), "{bytes}");
    // Where each goes its own way, the report has what to do next on its first screen.
    let run = bench.run("derive part.jinja");
    let place = |text: &str| {
        run.stderr
            .find(text)
            .unwrap_or_else(|| panic!("{text} in {run}"))
    };
    assert!(place("what to do next") < place("  supports "), "{run}");
    // So do other verbs with a report beside a result.
    let schema = r#"{"properties": {"content": {"type": "string", "x-regex": "^(.*?)</end>"}}}"#;
    let bench = bench.file("schema.json", schema);
    let mut pty = Pty::start(binary(), &["convert", "schema.json"], &bench.path("."));
    pty.end();
    let bytes = pty.bytes();
    let place = |text: &str| {
        bytes
            .find(text)
            .unwrap_or_else(|| panic!("{text} in {bytes}"))
    };
    assert!(place("\"fields\": ") < place("inexpressible: "), "{bytes}");
    // And so does a message that is not whole, or not all of the response.
    let bench = bench
        .file("broken", "<call>{</call></assistant>")
        .file("leaked", "a <think> b</assistant>");
    for (response, told) in [("broken", "error[json]"), ("leaked", "warning[leaked]")] {
        let arguments = ["parse", "template.json", response];
        let mut pty = Pty::start(binary(), &arguments, &bench.path("."));
        pty.end();
        let bytes = anstream::adapter::strip_str(&pty.bytes()).to_string();
        let place = |text: &str| {
            bytes
                .find(text)
                .unwrap_or_else(|| panic!("{text} in {bytes}"))
        };
        assert!(place("\"role\": ") < place(told), "{bytes}");
    }
}

/// A diff is broken between words, as a sentence is.
#[test]
fn the_diffs_of_a_review_fit_the_terminal() {
    let words = "considering the consequences ".repeat(12);
    let bench = Bench::new();
    let template = bench.read("template.json");
    let bench = bench
        .file("kite/response_template.json", template)
        .file("kite/a/response.txt", format!("{words}</assistant>"))
        .file("kite/a/expected.json", "{}\n");
    let mut pty = Pty::start(binary(), &["review", "kite"], &bench.path("."));
    pty.wait_for("take it?");
    pty.write("q");
    assert_eq!(pty.end(), 1);
    let bytes = anstream::adapter::strip_str(&pty.bytes()).to_string();
    assert!(bytes.contains("considering"), "{bytes}");
    for line in bytes.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// What people read fits the terminal: lines of a file are shown as far as there is room, so that what points at a place stands
/// below it, and sentences are broken between words.
#[test]
fn what_people_read_fits_the_terminal() {
    let long = format!(
        "{{\"start_anchor\": \"a\", \"defaults\": {{\"note\": \"{}\"}}, \"fields\": {{\"content\": {{\"close_pattern\": \"</a>|$\"}}}}}}",
        "word ".repeat(60)
    );
    let bench = Bench::new().file("long.json", long);
    for columns in [60, 80, 200] {
        for arguments in [
            "lint long.json",
            "derive chat.jinja",
            "inspect chat.jinja",
            "explain nothing-such",
        ] {
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let output = bench
                .command()
                .env("COLUMNS", columns.to_string())
                .args(&arguments)
                .output()
                .expect("the binary runs");
            let text = if arguments[0] == "derive" {
                output.stderr
            } else {
                output.stdout
            };
            let text = String::from_utf8(text).expect("UTF-8");
            for line in text.lines() {
                assert!(
                    line.chars().count() <= columns,
                    "{arguments:?} at {columns}: {line}"
                );
            }
        }
    }
    let mut command = bench.command();
    command.env("COLUMNS", "60").args(["lint", "long.json"]);
    let text = String::from_utf8(command.output().expect("it runs").stdout).expect("UTF-8");
    insta::assert_snapshot!(text, @r#"
    warning[text-after-close]: a line feed behind "</a>" opens
      "content" again and replaces its text
     --> long.json:1:389
      |
    1 | …close_pattern": "</a>|$"}}}
      |                  ^^^^^^^^
      |
      = note: at $.fields.content.close_pattern
      = help: let it take the white space behind it: `\s*` at
        its end

    warning[dollar]: `$` also matches before a final line feed
     --> long.json:1:389
      |
    1 | …close_pattern": "</a>|$"}}}
      |                  ^^^^^^^^
      |
      = note: at $.fields.content.close_pattern
      = help: `\Z` matches at the very end alone

    2 warnings in 1 file; 2 can be fixed: --diff shows how,
      --fix does it
    "#);
    // A terminal says itself how wide it is.
    let mut pty = Pty::start(binary(), &["lint", "long.json"], &bench.path("."));
    pty.end();
    let bytes = anstream::adapter::strip_str(&pty.bytes()).to_string();
    assert!(bytes.contains("can be fixed"), "{bytes}");
    for line in bytes.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
