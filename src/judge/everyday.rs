//! Texts of every day, which an assistant writes whatever its chat template is.
//!
//! A verdict is given on some of them. They are chosen so that they have the words and the punctuation of many markers in them, and none of the chat template's own. On others
//! no verdict is given. These may have a marker in them that stands otherwise in every render, such as `$` within a line for one that stands at the beginning of one:
//! whether they can be told apart depends on how common the marker is, and a marker that nobody writes in prose is not to be read more strictly for it.

use super::message::Assistant;
use super::probes::{CONTENT, Probe, beside, calling, other};

/// Texts of every day, in which words and punctuation stand within a line, or go on, that formats may have on a line of their own.
const EVERYDAY: [&str; 11] = [
    "you can use a hammer, run it twice, do as they do, let x be, set y to z, and call me later",
    "moreover the Endpoint is over now: STOP in red, all DONE, Observations of a good morning, hover",
    "he wrote \"Answer: in one word\", and the function f takes {\"a\": 1} with it",
    "def f(x: int) -> int: x => y if a == b && c",
    "i--; // so, x --verbose --- a/x",
    "cat <<EOF >>log; x <- c(1, 2) ;; three",
    "$x \\le 3$ and [...a], 50%% of \\end{align}; Traceback (most recent call last):",
    "Use ```x``` inline, **so** and __so__, ~~not~~ #[cfg(test)]",
    "## Answer first\n### Usage\n.PHONY: all",
    "--- a/x\n>>> x\n<br>\n== y",
    "BEGIN;\nEND;\nassert x\nasync y",
];

/// The texts of every day in which none of these constants stands as it is written. A text that says a marker is not tried, and a single character makes none.
fn everyday(constants: &[&str]) -> impl Iterator<Item = &'static str> {
    let is_marker = |constant: &&&str| constant.trim().chars().nth(1).is_some();
    let markers: Vec<&str> = constants.iter().filter(is_marker).copied().collect();
    let is_free = move |text: &&str| !markers.iter().any(|marker| text.contains(marker));
    EVERYDAY.into_iter().filter(is_free)
}

/// Returns true if some text of every day has this text in it.
pub(crate) fn is_said_every_day(text: &str) -> bool {
    let mut all = EVERYDAY.iter().chain(&ORDINARY);
    all.any(|everyday| everyday.contains(text))
}

/// Returns true if some text of every day has this text twice, with nothing but white space between.
pub(crate) fn is_said_twice_every_day(text: &str) -> bool {
    let mut all = EVERYDAY.iter().chain(&ORDINARY);
    all.any(|everyday| {
        let mut places = everyday.match_indices(text);
        places.any(|(at, _)| everyday[at + text.len()..].trim_start().starts_with(text))
    })
}

/// Messages without calls with texts of every day, for a chat template with these constants.
pub(super) fn of_every_day(constants: &[&str]) -> Vec<Probe> {
    let texts = everyday(constants).flat_map(|text| {
        let said = Assistant::saying(&format!("Marigold {text} thicket"));
        let begun = Assistant::saying(text);
        let thought = Assistant::saying(CONTENT).thinking(&format!("Lantern {text} wharf"));
        [said, begun, thought]
    });
    texts.map(other).collect()
}

/// Messages with calls whose only argument is a text of every day, for a chat template with these constants.
pub(super) fn of_every_day_with_calls(constants: &[&str]) -> Vec<Probe> {
    let texts = everyday(constants).map(|text| calling([("orchard".to_owned(), text.into())]));
    texts.map(other).collect()
}

/// Texts as files, transcripts, lists and prose have them, in which punctuation and common words stand that serve as markers as well.
const ORDINARY: [&str; 43] = [
    "Refs:\n[1]\nMore of it below.",
    "[server]\nport = 80\nname = \"larch\"",
    "{\"command\": \"npx\", \"args\": [\"-y\"]}",
    "{\"type\": \"object\", \"parameters\": {}, \"input\": {\"x\": 1}, \"arguments\": []}",
    "A call to action: buy now! My thought: it is fine. The final answer: 5.",
    "- name: build\n  action: make\n  input: x",
    "«oui»",
    "Il dit « oui », «oui», \u{201e}ja\u{201c} und \u{300c}\u{306f}\u{3044}\u{300d}.",
    "$ ls -l\ntotal 0",
    "It costs $ 5\neach, or \u{20ac} 4\nin all.",
    "So (call me) soon, or (think) first (as we say)",
    "x = ((a + b)) * 2\nprint((1, 2)) works.",
    "A <details>x</details> B <br/> <b>C</b> <i>D</i>",
    "a <!-- b --> c /* d */ e",
    "no #think tag, no @anna, no :smile:",
    "\u{27e8}\u{3c8}|\u{3c6}\u{27e9} = 0, |x| < {y}, \u{2192} z",
    "# Title\nText\n## Part\n- [ ] milk\n* tea\n1. one\n> said",
    "a | b\n---|---\n1 | 2\n***\nso",
    "```json\n{\"a\": 1}\n```\nand\n```sh\nmake\n```",
    "Both:\n\n```sh\nls\n```\n\n```json\n{\"b\": 2}\n```\n\nSo.",
    "[link](u), [[page]], ![x](y), [x]: z",
    "f(x=1), then g(\"a\", b=[1]) and run()",
    "~ 5 %% of ^x^ == y :: z // w -> v; !important",
    "He thinks it calls for a tool, and says the result is an end.",
    "user: hi\nbot: hello\nsystem: so",
    "{{ x }} {% if y %} ${z} #{w} <% v %>",
    "Use print(len(x)) for it.\nprint(f(x, y=2))\nrun the tool",
    "- name: nginx\n  args:\n    level: 3\n- tool: hammer\n  with: care",
    "@@ -1,2 +1,2 @@\n-a()\n+ b()\n> c {}\n# d",
    "See [link]\n\n---\n\nNext: {x}\n\n===\n\n(end);",
    "[ -f x ] && echo y; [1]; {2};; (3), or more",
    "Phone Calls:\n1. Alice: confirm\n2. Bob: wait",
    "Mail joe@think.com, food for thought: why? Final: 5.",
    "\u{393} \u{22a2} A \u{2192} B, \u{2713} done \u{2717} not, \u{25b6} go",
    "{\"tool\": \"x\", \"name\": \"y\", \"args\": [\"-v\"]}",
    "I would write {\"name\": \"get\", \"arguments\": {\"a\": 1}} or [{\"name\": \"get\", \"parameters\": {\"a\": 1}}] for it.",
    "Like:\n```json\n{\"function\": \"get\", \"arguments\": {\"a\": 1}}\n```\nor {\"tool\": \"get\", \"args\": {\"a\": 1}}, ok?",
    "Run this:\n/ping\n* a\n* b\ncall it with {}",
    "GO now, ROGER that, and REPLY soon: we MULL it over, THINK twice, ANSWER once, CALL back, START again, and at the END it is OVER.",
    "Go on: the Title: Notes, my Reply: yes, no Verdict: yet, Musing: none, a Plan: later, the Function: f, its Arguments: x, Result: 1.",
    "La Fin du monde, une R\u{e9}ponse : non, ma Pens\u{e9}e : oui; el plan listo, la Respuesta: s\u{ed}, Pienso que Fin; das Ende, kein Schluss, die Antwort: ja, ein Gedanke: so, Denken hilft.",
    "\u{42d}\u{442}\u{43e} \u{41a}\u{43e}\u{43d}\u{435}\u{446} \u{444}\u{438}\u{43b}\u{44c}\u{43c}\u{430}, \u{41e}\u{442}\u{432}\u{435}\u{442}: \u{434}\u{430}, \u{41c}\u{44b}\u{441}\u{43b}\u{44c}: \u{43d}\u{435}\u{442}.",
    "\u{3053}\u{308c}\u{3067}\u{7d42}\u{4e86}\u{3067}\u{3059}\u{3001}\u{601d}\u{8003}\u{3068}\u{56de}\u{7b54}\u{306e}\u{7d50}\u{8ad6}\u{3001}\u{8c03}\u{7528}\u{5b8c}\u{6bd5}\u{3002}\u{c0dd}\u{ac01} \u{b05d} \u{b2f5}\u{bcc0}.",
];

/// Messages without calls that have these texts.
pub(super) fn ordinary() -> Vec<Probe> {
    let texts = ORDINARY.into_iter().flat_map(|text| {
        let thought = Assistant::saying(CONTENT).thinking(text);
        [Assistant::saying(text), thought]
    });
    texts.map(beside).collect()
}

/// Messages with a call whose only argument is one of these texts.
pub(super) fn ordinary_with_calls() -> Vec<Probe> {
    let texts = ORDINARY
        .into_iter()
        .map(|text| calling([("orchard".to_owned(), text.into())]));
    texts.map(beside).collect()
}
