//! Samples: responses made up of a schema's own patterns, as it would read them, and others near to them.

use std::collections::HashSet;

use super::{Sample, SampleOrigin};
use crate::pattern::Pattern;
use crate::pattern::facts::Facts;
use crate::pattern::parts::{self, Part};
use crate::response_schema::ResponseSchema;
use crate::response_schema::node::{Additional, Kind, Node, Parser};
use crate::value::{Value, json};

/// How many texts are made up. Those that the schema reads are kept.
const MADE: usize = 240;

/// The seed of the made-up samples. It is fixed, so that every run makes the same ones.
const SEED: u64 = 16;

/// Returns the given samples, those that are made up, and others near to them; each text once.
pub(super) fn all(schema: &ResponseSchema, given: &[Sample]) -> Vec<Sample> {
    let mut maker = Maker {
        random: fastrand::Rng::with_seed(SEED),
    };
    let mut seen = HashSet::new();
    let mut samples: Vec<Sample> = Vec::new();
    let mut add = |samples: &mut Vec<Sample>, text: String, origin: SampleOrigin| {
        if seen.insert(text.clone()) {
            samples.push(Sample { text, origin });
        }
    };
    for sample in given {
        add(&mut samples, sample.text.clone(), sample.origin);
    }
    for _ in 0..MADE {
        let text = maker.root(schema.root());
        // A text that the schema refuses, or reads as nothing, cannot show whether the response template does the same.
        let is_read = schema.parse(&text).is_ok_and(|value| value.is_truthy());
        if is_read {
            add(&mut samples, text, SampleOrigin::Generated);
        }
    }
    let near: Vec<String> = samples
        .iter()
        .map(|sample| sample.text.clone())
        .take(MADE / 2)
        .collect();
    for text in ["", "Hello!", "Hello!\n"] {
        add(&mut samples, text.to_owned(), SampleOrigin::Beyond);
    }
    for text in near {
        add(&mut samples, format!("{text}\n"), SampleOrigin::Beyond);
        add(&mut samples, format!("Well. {text}"), SampleOrigin::Beyond);
        add(&mut samples, format!("{text} So."), SampleOrigin::Beyond);
        let half = text.len() / 2;
        let half = (half..=text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        add(&mut samples, text[..half].to_owned(), SampleOrigin::Beyond);
    }
    samples
}

struct Maker {
    random: fastrand::Rng,
}

/// Texts of a field; some have white space around them, which counts to some schemas and not to others.
const TEXTS: [&str; 9] = [
    "Hm.",
    "Hello!",
    "It is 5 < 6 > 4.",
    "one\ntwo",
    "x",
    "{\"a\": 1}",
    "- a\n- b\n\nc",
    " led",
    "trailed \n",
];

impl Maker {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.usize(..from.len())]
    }

    fn root(&mut self, root: &Node) -> String {
        if root.regex.is_some()
            || root.parser.is_some()
            || root.iterator.is_some()
            || root.key_value.is_some()
        {
            return self.node(root);
        }
        // A schema does not say in which order the texts of its properties stand. Mostly it is the order of the properties.
        let mut properties: Vec<&Node> = root
            .properties
            .iter()
            .flatten()
            .map(|(_, node)| node)
            .collect();
        if self.random.usize(..4) == 0 {
            self.random.shuffle(&mut properties);
        }
        let mut out = String::new();
        for node in properties {
            if node.constant.is_none() && self.random.usize(..5) > 1 {
                let text = self.node(node);
                out.push_str(&text);
                if self.random.usize(..3) == 0 {
                    out.push('\n');
                }
            }
        }
        out
    }

    /// A text for a node.
    fn node(&mut self, node: &Node) -> String {
        match &node.regex {
            Some(pattern) => {
                let inner = |maker: &mut Self, name: &str| {
                    let child = node
                        .properties
                        .as_ref()
                        .and_then(|properties| properties.get(name));
                    match child {
                        Some(child) => Some(maker.node(child)),
                        None if name == "1" => maker.behind(node),
                        None => None,
                    }
                };
                self.pattern(pattern, &inner)
            }
            None => self
                .behind(node)
                .unwrap_or_else(|| self.pick(&TEXTS).to_owned()),
        }
    }

    /// Makes a text for the evaluation of a node behind `x-regex`; `None` where any text will do.
    fn behind(&mut self, node: &Node) -> Option<String> {
        if let Some(pattern) = &node.iterator {
            let count = 1 + self.random.usize(..2);
            let item = node.items.as_deref();
            let mut out = String::new();
            for at in 0..count {
                if at > 0 && self.random.bool() {
                    out.push('\n');
                }
                let text = self.pattern(pattern, &|maker, name| {
                    let item = item?;
                    let member = item
                        .properties
                        .as_ref()
                        .and_then(|properties| properties.get(name));
                    match member {
                        Some(member) => Some(maker.node(member)),
                        None if name == "1" => Some(maker.item(item)),
                        None => None,
                    }
                });
                out.push_str(&text);
            }
            return Some(out);
        }
        if let Some(pattern) = &node.key_value {
            let mut out = String::new();
            for key in ["city", "days"].iter().take(1 + self.random.usize(..2)) {
                let value = self.value(&node.additional);
                let text = self.pattern(pattern, &|_, name| match name {
                    "key" => Some((*key).to_owned()),
                    "value" => Some(value.clone()),
                    _ => None,
                });
                out.push_str(&text);
                out.push('\n');
            }
            return Some(out);
        }
        match &node.parser {
            Some(Parser::Json { calls: true, .. }) => {
                let texts = [
                    "{}",
                    "{city:<|\"|>Paris, \"x\"<|\"|>,days:3}",
                    "{a:{b:[1,<|\"|>c<|\"|>]}}",
                ];
                return Some(self.pick(&texts).to_owned());
            }
            Some(Parser::Json { transform, .. }) => {
                let mut names = transform
                    .as_ref()
                    .map(|transform| transform.fields())
                    .unwrap_or_default();
                let each = transform
                    .as_ref()
                    .is_some_and(|transform| transform.to_transform().is_ok_and(|(_, each)| each));
                for name in ["name", "arguments"] {
                    if names.len() < 2 {
                        names.push(name.to_owned());
                    }
                }
                let members = names.iter().map(|name| {
                    let is_object = ["arg", "param", "input"]
                        .iter()
                        .any(|part| name.contains(part));
                    let value = if is_object {
                        let values = [
                            "{}",
                            "{\"city\": \"Paris\", \"days\": 3}",
                            "{\"a\": {\"b\": [1, null]}}",
                        ];
                        json::parse(self.pick(&values)).unwrap_or_default()
                    } else {
                        Value::from("get")
                    };
                    (name.as_str(), value)
                });
                let object = Value::Object(members.collect());
                let value = if each {
                    Value::Array(vec![object; 1 + self.random.usize(..2)])
                } else {
                    object
                };
                return Some(json::to_string(&value));
            }
            _ => {}
        }
        match node.kind {
            Kind::Integer => Some("12".to_owned()),
            Kind::Number => Some("1.5".to_owned()),
            Kind::Boolean => Some("true".to_owned()),
            Kind::Object if node.regex.is_none() && node.properties.is_some() => {
                Some(self.item(node))
            }
            _ => None,
        }
    }

    /// Makes a text in which each property of an object finds its own text.
    fn item(&mut self, node: &Node) -> String {
        let has_own = node.regex.is_some() || node.parser.is_some() || node.key_value.is_some();
        if has_own || node.kind != Kind::Object {
            return self.node(node);
        }
        let mut out = String::new();
        for child in node.properties.iter().flatten().map(|(_, child)| child) {
            if child.constant.is_none() {
                if !out.is_empty() && child.key_value.is_some() {
                    out.push('\n');
                }
                let text = self.item(child);
                // If the text so far ends with the beginning of this part, the two overlap, and only the rest is added.
                match (1..=out.len().min(text.len())).rev().find(|length| {
                    out.is_char_boundary(out.len() - length)
                        && text.starts_with(&out[out.len() - length..])
                }) {
                    Some(length) => out.push_str(&text[length..]),
                    None => out.push_str(&text),
                }
            }
        }
        out
    }

    fn value(&mut self, additional: &Additional) -> String {
        let is_json = matches!(additional, Additional::Read(node) if node.parser.is_some());
        let texts = ["Paris", "3", "{\"a\": [1]}", "two words"];
        let strict = matches!(additional, Additional::Read(node)
            if matches!(&node.parser, Some(Parser::Json { allow_non_json: false, .. })));
        match (is_json, strict) {
            (true, true) => "3".to_owned(),
            _ => self.pick(&texts).to_owned(),
        }
    }

    fn pattern(
        &mut self,
        pattern: &Pattern,
        fill: &dyn Fn(&mut Self, &str) -> Option<String>,
    ) -> String {
        self.parts(&parts::parts(pattern), fill)
    }

    fn parts(
        &mut self,
        parts: &[Part],
        fill: &dyn Fn(&mut Self, &str) -> Option<String>,
    ) -> String {
        let mut out = String::new();
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Space(_) => {
                    let spaces = ["", "\n"];
                    out.push_str(self.pick(&spaces));
                }
                Part::Group { name, parts } => {
                    let text = fill(self, name).unwrap_or_else(|| self.body(parts, fill));
                    out.push_str(&text);
                }
                Part::Optional { parts } => {
                    if self.random.usize(..4) > 0 {
                        let text = self.parts(parts, fill);
                        out.push_str(&text);
                    }
                }
                Part::Choice(branches) => {
                    // A branch that is only a condition, such as the end of the text, would not hold in the middle of a sample.
                    let says = |branch: &&Vec<Part>| branch.iter().any(|part| !part.is_condition());
                    let branches: Vec<&Vec<Part>> = branches.iter().filter(says).collect();
                    if branches.is_empty() {
                        continue;
                    }
                    let at = self.random.usize(..branches.len());
                    let text = self.parts(branches[at], fill);
                    out.push_str(&text);
                }
                Part::Start | Part::End(_) | Part::Ahead { .. } => {}
                Part::Other { .. } => out.push_str(&sample(part)),
            }
        }
        out
    }

    /// Makes a text for a group about which no node says more.
    fn body(&mut self, body: &[Part], fill: &dyn Fn(&mut Self, &str) -> Option<String>) -> String {
        let is_any = matches!(body, [Part::Other { .. }])
            && parts::source(body, &|_| None)
                .and_then(|source| Pattern::regex(&format!(r"\A(?:{source})\Z")).ok())
                .is_some_and(|pattern| matches!(pattern.search("It is 5 < 6.\n", 0), Ok(Some(_))));
        if is_any {
            return self.pick(&TEXTS).to_owned();
        }
        self.parts(body, fill)
    }
}

/// A text that a part matches, mostly a letter.
fn sample(part: &Part) -> String {
    let source = parts::source(std::slice::from_ref(part), &|_| None);
    let pattern = source.and_then(|source| Pattern::regex(&source).ok());
    let samples = pattern.map(|pattern| Facts::of(&pattern).samples(&pattern));
    samples
        .unwrap_or_default()
        .into_iter()
        .next()
        .unwrap_or_default()
}
