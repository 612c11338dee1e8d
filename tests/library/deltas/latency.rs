//! How late what a model writes is passed on: for each byte of a string of the message, how many bytes the model has written behind it
//! before a client is sent it. The table of it stands in docs/deltas.md; `OBVERSE_UPDATE=1` writes it anew.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use obverse::deltas::{DeltaParser, Growth, Options};
use obverse::parser::{self, ResponseParser};
use obverse::value::{Map, Path, Value, json};

use super::{Fixed, fixtures};
use crate::support::clients::ask;

/// What takes the place of an argument, so that it is as long as one that is worth streaming.
const LONG: &str = "The harbour lay still under a violet sky while the last boats came in one after another and tied up along the \
                    eastern quay where old men mended nets and nobody spoke a word about the weather or the war that had ended \
                    three winters before the lighthouse went dark for good and all";

/// When the bytes of a text were passed on, in bytes of the response.
type Times = Vec<usize>;

/// The delays of all bytes of the strings that are looked at.
#[derive(Default)]
struct Delays {
    bytes: usize,
    sum: usize,
    most: usize,
}

impl Delays {
    fn add(&mut self, times: &[usize], written: usize) {
        for (offset, time) in times.iter().enumerate() {
            let delay = time.saturating_sub(written + offset + 1);
            self.bytes += 1;
            self.sum += delay;
            self.most = self.most.max(delay);
        }
    }

    fn shown(&self) -> String {
        if self.bytes == 0 {
            return "|".to_owned();
        }
        let tenths = (self.sum * 10 + self.bytes / 2) / self.bytes;
        format!("{}.{} | {}", tenths / 10, tenths % 10, self.most)
    }

    fn average(&self) -> usize {
        self.sum / self.bytes.max(1)
    }
}

/// Parses character by character, and notes when what was passed on.
fn follow(
    fixed: &Fixed,
    response: &str,
    certain: bool,
) -> (Map, BTreeMap<String, Times>, Vec<(String, Times)>) {
    let mut options = Options::default();
    options.certain = certain;
    let parser = DeltaParser::with_options(
        Arc::clone(&fixed.template),
        &fixed.prefix,
        &fixed.fixture.tools,
        options,
    );
    let mut parser = parser.expect("a prefix");
    let mut texts: BTreeMap<String, Times> = BTreeMap::new();
    let mut calls: Vec<(String, Times)> = Vec::new();
    let mut note = |growth: &Growth<'_>, at: usize| match growth {
        Growth::Text { path, text } => {
            let times = texts.entry(path.to_string()).or_default();
            times.extend(text.bytes().map(|_| at));
        }
        Growth::Call { .. } => calls.push((String::new(), Times::new())),
        Growth::Arguments { index, text } => {
            let (arguments, times) = &mut calls[*index];
            arguments.push_str(text);
            times.extend(text.bytes().map(|_| at));
        }
        _ => {}
    };
    for growth in parser.initial_growth().to_vec() {
        note(&growth, 0);
    }
    for (at, c) in response.char_indices() {
        let at = at + c.len_utf8();
        for growth in parser.feed(c.encode_utf8(&mut [0; 4])).expect("no error") {
            note(&growth, at);
        }
    }
    let (message, last) = parser.finalize().expect("a message");
    for growth in last {
        note(&growth, response.len());
    }
    (message, texts, calls)
}

/// The strings among arguments.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

/// The response of a fixture, its longest argument replaced by a long one.
fn lengthened(fixed: &Fixed) -> Option<String> {
    let message = fixed.fixture.expected.as_ref()?;
    let calls = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let arguments: Vec<Value> = calls.iter().filter_map(arguments_of).collect();
    let mut found = Vec::new();
    arguments
        .iter()
        .for_each(|arguments| strings(arguments, &mut found));
    let longest = found.into_iter().max_by_key(|text| text.len());
    Some(match longest {
        Some(text) => fixed.fixture.response.replacen(text, LONG, 1),
        None => fixed.fixture.response.clone(),
    })
}

/// The arguments of a call, which may stand as text in its message.
fn arguments_of(call: &Value) -> Option<Value> {
    let arguments = call.get("function")?.get("arguments")?;
    Some(match arguments {
        Value::String(text) => json::parse(text).unwrap_or_default(),
        other => other.clone(),
    })
}

/// Where the call stands in a response, with its delimiters.
fn place_of_call(fixed: &Fixed, response: &str) -> Range<usize> {
    let mut options = parser::Options::default();
    options.keep_delimiters = true;
    let template = Arc::clone(fixed.template.template());
    let rest = template.after_last_anchor(&fixed.prefix);
    let prefix = rest.unwrap_or_default().len();
    let field = template
        .fields()
        .iter()
        .position(|field| field.name == "tool_calls");
    let tools = &fixed.fixture.tools;
    let parser = ResponseParser::with_options(template, &fixed.prefix, tools, options);
    let mut parser = parser.expect("a prefix");
    parser.feed(response).expect("no error");
    parser.finalize().expect("a message");
    let passed = parser.take_delimiters().into_iter();
    let mut spans = passed
        .filter(|passed| Some(passed.field) == field)
        .map(|passed| passed.span);
    let first = spans.next().expect("a delimiter");
    let last = spans
        .next_back()
        .unwrap_or(first.start..prefix + response.len());
    first.start.saturating_sub(prefix)..last.end.max(first.end) - prefix
}

/// The delays of reasoning and content, and those of the long argument.
fn delays(fixed: &Fixed, certain: bool) -> Option<(Delays, Delays)> {
    let response = lengthened(fixed)?;
    let (message, texts, calls) = follow(fixed, &response, certain);
    let (mut plain, mut long) = (Delays::default(), Delays::default());
    for (key, value) in &message {
        let path = Path::default().key(key).to_string();
        if let (Some(text), Some(times)) = (value.as_str(), texts.get(&path))
            && let Some(written) = response.find(text)
        {
            plain.add(times, written);
        }
    }
    for (arguments, times) in &calls {
        if let (Some(passed), Some(written)) = (arguments.find(LONG), response.find(LONG)) {
            long.add(&times[passed..passed + LONG.len()], written);
        }
    }
    Some((plain, long))
}

#[test]
fn the_table_of_delays_is_what_is_measured() {
    let mut rows: BTreeMap<String, [Delays; 4]> = BTreeMap::new();
    for fixed in fixtures() {
        let (template, name) = fixed.name.split_once(' ').expect("two names");
        if !["plain", "reasoning", "one_call"]
            .iter()
            .any(|kind| name.ends_with(kind))
        {
            continue;
        }
        let row = rows.entry(template.to_owned()).or_default();
        for (at, certain) in [(0, false), (2, true)] {
            if let Some((plain, long)) = delays(&fixed, certain) {
                for (place, delays) in [(at, plain), (at + 1, long)] {
                    row[place].bytes += delays.bytes;
                    row[place].sum += delays.sum;
                    row[place].most = row[place].most.max(delays.most);
                }
            }
        }
    }
    let mut table = "| response template | text, average | at most | arguments, average | at most | text if certain, average | at most | arguments if certain, average | at most |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n".to_owned();
    for (name, row) in &rows {
        let cells: Vec<String> = row.iter().map(Delays::shown).collect();
        table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    let streamed = rows.values().filter(|row| row[1].bytes > 0);
    let (early, all) = streamed.fold((0, 0), |(early, all), row| {
        (early + usize::from(row[1].average() < 30), all + 1)
    });
    println!(
        "{table}arguments of {early} of {all} formats are passed on within 30 bytes on average"
    );
    assert!(all > 45 && early * 100 >= all * 90, "{early} of {all}");
    for (name, row) in &rows {
        assert!(
            row[0].average() < 40,
            "{name}: text waits {}",
            row[0].average()
        );
        assert!(row[1].sum <= row[3].sum, "{name}");
    }
    hold_table("delays", &table);
}

/// Holds a table of docs/deltas.md to what is measured, or writes it.
fn hold_table(name: &str, table: &str) {
    let page = super::root().join("docs/deltas.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&begin).expect("the table's place");
    let (shown, after) = rest.split_once(&end).expect("the table's end");
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(page, format!("{before}{begin}{table}{end}{after}")).expect("it is written");
    } else {
        assert_eq!(
            shown, table,
            "docs/deltas.md is stale; OBVERSE_UPDATE=1 writes the table anew"
        );
    }
}

/// The parsers of SGLang, fed the same responses: of those that get the call right the one that is least late.
#[test]
#[ignore = "needs .venv-servers; `.ci/run` runs it"]
fn the_table_of_servers_is_what_is_measured() {
    let python = super::root().join(".venv-servers/bin/python");
    assert!(python.exists(), "tests/reference/install-servers makes it");
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for fixed in fixtures() {
        let (template, name) = fixed.name.split_once(' ').expect("two names");
        let Some(response) = lengthened(&fixed).filter(|text| text.contains(LONG)) else {
            continue;
        };
        if !name.ends_with("one_call") {
            continue;
        }
        let (message, ..) = follow(&fixed, &response, false);
        let call = message
            .get("tool_calls")
            .and_then(|calls| calls.as_array()?.first());
        let name = call.and_then(|call| call.get("function")?.get("name"));
        let (Some(name), Some(arguments)) = (name.cloned(), call.and_then(arguments_of)) else {
            continue;
        };
        let call = place_of_call(&fixed, &response);
        let case = [
            ("before", Value::from(&response[..call.start])),
            ("behind", Value::from(&response[call.end..])),
            ("response", Value::from(response)),
            ("tools", Value::Array(fixed.fixture.tools.clone())),
            ("name", name),
            ("arguments", arguments),
            ("text", Value::from(LONG)),
        ];
        let case = case.map(|(key, value)| (key.to_owned(), value));
        lines.push(json::to_string(&Value::Object(Map::from_iter(case))));
        let (_, own) = delays(&fixed, false).expect("a message");
        rows.push((template.to_owned(), own));
    }
    let answers = ask(&python, "servers/delays.py", &lines);
    assert_eq!(answers.len(), rows.len());
    let mut table = "| response template | parser of SGLang | arguments, average | at most | Obverse, average | at most |\n|---|---|--:|--:|--:|--:|\n".to_owned();
    let (mut read, mut late) = (0, 0);
    for ((template, own), answer) in rows.iter().zip(&answers) {
        let count = |one: &Value, key: &str| {
            let count = one.get(key).map(json::to_string);
            count.and_then(|count| count.parse::<usize>().ok())
        };
        let parsers = answer.as_array().expect("a list").iter();
        let best = parsers.min_by_key(|one| count(one, "sum"));
        let Some(best) = best else { continue };
        let theirs = Delays {
            bytes: LONG.len(),
            sum: count(best, "sum").expect("a sum"),
            most: count(best, "most").expect("a number"),
        };
        let name = best.get("parser").and_then(Value::as_str);
        table.push_str(&format!(
            "| {template} | {} | {} | {} |\n",
            name.expect("a name"),
            theirs.shown(),
            own.shown()
        ));
        read += 1;
        late += usize::from(theirs.average() > own.average());
    }
    println!(
        "{table}{read} of {} are read by a parser of SGLang, {late} of these later than here",
        rows.len()
    );
    assert!(read > 20, "{read}");
    hold_table("delays of servers", &table);
}
