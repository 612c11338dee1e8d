//! How late what a model writes is passed on: for each byte of a string of the message, how many bytes the model has written behind it
//! before a client is sent it. The table of it stands in docs/deltas.md; `OBVERSE_UPDATE=1` writes it anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use obverse::deltas::{DeltaParser, Growth, Options};
use obverse::value::{Map, Path, Value, json};

use super::{Fixed, fixtures};

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

/// The delays of reasoning and content, and those of the long argument.
fn delays(fixed: &Fixed, certain: bool) -> Option<(Delays, Delays)> {
    // The longest string among the arguments becomes a long one.
    let message = fixed.fixture.expected.as_ref()?;
    let calls = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let arguments: Vec<Value> = calls
        .iter()
        .filter_map(|call| call.get("function")?.get("arguments"))
        .map(|arguments| match arguments {
            Value::String(text) => json::parse(text).unwrap_or_default(),
            other => other.clone(),
        })
        .collect();
    let mut found = Vec::new();
    arguments
        .iter()
        .for_each(|arguments| strings(arguments, &mut found));
    let longest = found.into_iter().max_by_key(|text| text.len());
    let response = match longest {
        Some(text) => fixed.fixture.response.replacen(text, LONG, 1),
        None => fixed.fixture.response.clone(),
    };
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
    let page = super::root().join("docs/deltas.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (begin, end) = ("<!-- delays -->\n", "<!-- end of delays -->");
    let (before, rest) = text.split_once(begin).expect("the table's place");
    let (shown, after) = rest.split_once(end).expect("the table's end");
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(page, format!("{before}{begin}{table}{end}{after}")).expect("it is written");
    } else {
        assert_eq!(
            shown, table,
            "docs/deltas.md is stale; OBVERSE_UPDATE=1 writes the table anew"
        );
    }
}
