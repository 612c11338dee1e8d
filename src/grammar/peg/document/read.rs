//! From a document to a grammar.

use smol_str::SmolStr;

use super::{KEY, MEMBERS, VERSION, at};
use crate::diagnostic::Diagnostic;
use crate::grammar::peg::arena::{Grammar, ROOT};
use crate::grammar::peg::build::{self, Expr, Kind};
use crate::grammar::peg::builtin::Builtin;
use crate::grammar::peg::error::BuildError;
use crate::value::json::Places;
use crate::value::{Integer, Map, Path, Value};

/// The code of all that is wrong with a document.
const CODE: &str = "grammar";

/// Expressions that take nothing, beside the values that every grammar knows.
pub(super) const BARE: [&str; 8] = [
    "eps",
    "start",
    "end",
    "any",
    "space",
    "rest",
    "cut",
    "json_string_content",
];

/// Expressions that take something, each with the further members that it may have.
const TAKING: [(&str, &[&str]); 18] = [
    ("literal", &[]),
    ("sequence", &[]),
    ("choice", &[]),
    ("one_or_more", &[]),
    ("zero_or_more", &[]),
    ("optional", &[]),
    ("repeat", &["min", "max"]),
    ("peek", &[]),
    ("negate", &[]),
    ("chars", &["min", "max"]),
    ("until", &[]),
    ("until_one_of", &[]),
    ("string_content", &[]),
    ("json_member", &["of"]),
    ("ref", &[]),
    ("schema", &["name", "of", "raw"]),
    ("atomic", &[]),
    ("tag", &["of"]),
];

/// The grammar of a document, or all that is wrong with it.
pub(super) fn grammar(value: &Value, places: Option<&Places>) -> Result<Grammar, Vec<Diagnostic>> {
    let mut reading = Reading {
        places,
        found: Vec::new(),
    };
    let built = reading.document(value);
    match built {
        Some(grammar) if reading.found.is_empty() => Ok(grammar),
        _ => Err(reading.found),
    }
}

struct Reading<'a> {
    places: Option<&'a Places>,
    found: Vec<Diagnostic>,
}

impl Reading<'_> {
    fn add(&mut self, path: &Path, message: impl Into<String>) {
        let found = Diagnostic::error(CODE, message);
        self.found.push(at(path, self.places, found));
    }

    fn wrong_type(&mut self, path: &Path, wanted: &str, value: &Value) {
        let message = format!("this must be {wanted}, not {}", value.json_kind());
        self.add(path, message);
    }

    fn document(&mut self, value: &Value) -> Option<Grammar> {
        let root = Path::default();
        let Value::Object(members) = value else {
            let message = format!("a grammar must be an object, not {}", value.json_kind());
            self.add(&root, message);
            return None;
        };
        self.version(members);
        for key in members
            .keys()
            .filter(|key| !MEMBERS.contains(&key.as_str()))
        {
            let known = MEMBERS.map(|member| format!("`{member}`"));
            let (last, others) = known.split_last()?;
            let known = format!("{} and {last}", others.join(", "));
            let message = format!("a grammar has no `{key}`; it has {known}");
            self.add(&root.key(key), message);
        }
        let triggers = self.triggers(members);
        let rules = self.rules(members, &triggers);
        let Some(written) = members.get("root") else {
            self.add(&root, "there is no `root`, at which reading begins");
            return None;
        };
        let expr = self.expr(written, &root.key("root"));
        if !self.found.is_empty() {
            return None;
        }
        let built = Grammar::with_rules_that_trigger(expr, rules);
        built.map_err(|error| self.not_built(&error)).ok()
    }

    /// The path of what cannot be built is that of the rule in which it stands.
    fn not_built(&mut self, error: &BuildError) {
        let root = Path::default();
        let path = match error.rule() {
            ROOT => root.key("root"),
            rule => root.key("rules").key(rule),
        };
        self.add(&path, error.to_string());
    }

    fn version(&mut self, members: &Map) {
        let root = Path::default();
        match members.get(KEY) {
            None => self.add(
                &root,
                format!("there is no `{KEY}`: {VERSION}, which says that this is a grammar"),
            ),
            Some(value) if *value == Value::from(VERSION) => {}
            Some(Value::Int(version)) => {
                let message = format!("version {version} is not known, only {VERSION}");
                self.add(&root.key(KEY), message);
            }
            Some(other) => self.wrong_type(&root.key(KEY), "the version, 1", other),
        }
    }

    fn triggers(&mut self, members: &Map) -> Vec<SmolStr> {
        let path = Path::default().key("trigger_rules");
        let names = match members.get("trigger_rules") {
            None => return Vec::new(),
            Some(Value::Array(names)) => names,
            Some(other) => {
                self.wrong_type(&path, "a list of names of rules", other);
                return Vec::new();
            }
        };
        let rules = members.get("rules").and_then(Value::as_object);
        let mut triggers = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match name {
                Value::String(name) if rules.is_some_and(|rules| rules.contains_key(name)) => {
                    triggers.push(name.into());
                }
                Value::String(name) => {
                    self.add(&path.index(index), format!("there is no rule `{name}`"));
                }
                other => self.wrong_type(&path.index(index), "the name of a rule", other),
            }
        }
        triggers
    }

    fn rules(&mut self, members: &Map, triggers: &[SmolStr]) -> Vec<(SmolStr, Expr, bool)> {
        let path = Path::default().key("rules");
        match members.get("rules") {
            None => Vec::new(),
            Some(Value::Object(rules)) => {
                let rules = rules.iter().map(|(name, value)| {
                    let name = SmolStr::from(name.as_str());
                    let trigger = triggers.contains(&name);
                    let expr = self.expr(value, &path.key(&name));
                    (name, expr, trigger)
                });
                rules.collect()
            }
            Some(other) => {
                self.wrong_type(&path, "an object, the rules by their names", other);
                Vec::new()
            }
        }
    }

    /// An expression. What is wrong with it is noted, and something else comes back.
    fn expr(&mut self, value: &Value, path: &Path) -> Expr {
        match value {
            Value::String(name) => bare(name).unwrap_or_else(|| {
                let near = near(name);
                let message = format!(
                    "there is no expression `{name}`{near}; a text is `{{\"literal\": …}}`"
                );
                self.add(path, message);
                build::eps()
            }),
            Value::Object(members) => self.object(members, path).unwrap_or_else(build::eps),
            other => {
                self.wrong_type(path, "an expression, an object or a string", other);
                build::eps()
            }
        }
    }

    fn object(&mut self, members: &Map, path: &Path) -> Option<Expr> {
        let keys: Vec<&str> = members.keys().map(|key| key.as_str()).collect();
        let kinds: Vec<&str> = keys.iter().copied().filter(|key| is_kind(key)).collect();
        let kind = match *kinds {
            [kind] => kind,
            [] => {
                self.no_kind(&keys, path);
                return None;
            }
            [first, second, ..] => {
                let message =
                    format!("an expression is one thing, and this is `{first}` and `{second}`");
                self.add(path, message);
                return None;
            }
        };
        let further = TAKING.iter().find(|(name, _)| *name == kind);
        let further = further.map_or(&[][..], |(_, further)| further);
        for key in keys
            .iter()
            .filter(|key| **key != kind && !further.contains(key))
        {
            self.add(&path.key(key), format!("a `{kind}` has no `{key}`"));
        }
        let value = members.get(kind)?;
        let inner = path.key(kind);
        let expr = match kind {
            "literal" => build::literal(self.text(value, &inner)?),
            "sequence" => build::sequence(self.list(value, &inner)?),
            "choice" => build::choice(self.list(value, &inner)?),
            "one_or_more" => build::one_or_more(self.expr(value, &inner)),
            "zero_or_more" => build::zero_or_more(self.expr(value, &inner)),
            "optional" => build::optional(self.expr(value, &inner)),
            "repeat" => {
                let (min, max) = self.counts(members, 0, path)?;
                build::repeat(self.expr(value, &inner), min, max)
            }
            "peek" => build::peek(self.expr(value, &inner)),
            "negate" => build::negate(self.expr(value, &inner)),
            "atomic" => build::atomic(self.expr(value, &inner)),
            "chars" => {
                let (min, max) = self.counts(members, 1, path)?;
                build::chars(self.text(value, &inner)?, min, max)
            }
            "until" => build::until(self.text(value, &inner)?),
            "until_one_of" => build::until_one_of(self.texts(value, &inner)?),
            "string_content" => self.quote(value, &inner)?,
            "json_member" => {
                let key = self.text(value, &inner)?;
                build::json_member(key, self.of(members, kind, "its value", path)?)
            }
            "ref" => build::reference(self.text(value, &inner)?),
            "schema" => {
                let of = self.of(members, kind, "the expression that reads it", path)?;
                let name = match members.get("name") {
                    Some(name) => self.text(name, &path.key("name"))?,
                    None => "",
                };
                let raw = match members.get("raw") {
                    None => false,
                    Some(Value::Bool(raw)) => *raw,
                    Some(other) => {
                        self.wrong_type(&path.key("raw"), "true or false", other);
                        return None;
                    }
                };
                build::schema(of, name, value.clone(), raw)
            }
            "tag" => {
                let tag = self.text(value, &inner)?;
                build::tag(
                    tag,
                    self.of(members, kind, "the expression that it is on", path)?,
                )
            }
            name => match (bare(name), value) {
                (Some(expr), Value::Bool(true)) => expr,
                (_, other) => {
                    self.wrong_type(&inner, "true", other);
                    return None;
                }
            },
        };
        Some(expr)
    }

    fn no_kind(&mut self, keys: &[&str], path: &Path) {
        let Some(key) = keys.first() else {
            let message = "this object is no expression; `{\"literal\": \"…\"}` is one";
            return self.add(path, message);
        };
        let near = near(key);
        self.add(path, format!("there is no expression `{key}`{near}"));
    }

    fn of(&mut self, members: &Map, kind: &str, what: &str, path: &Path) -> Option<Expr> {
        match members.get("of") {
            Some(of) => Some(self.expr(of, &path.key("of"))),
            None => {
                self.add(path, format!("a `{kind}` needs `of`, {what}"));
                None
            }
        }
    }

    fn list(&mut self, value: &Value, path: &Path) -> Option<Vec<Expr>> {
        let Value::Array(items) = value else {
            self.wrong_type(path, "a list of expressions", value);
            return None;
        };
        let items = items.iter().enumerate();
        Some(
            items
                .map(|(at, item)| self.expr(item, &path.index(at)))
                .collect(),
        )
    }

    fn text<'v>(&mut self, value: &'v Value, path: &Path) -> Option<&'v str> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong_type(path, "a string", value);
        }
        text
    }

    fn texts<'v>(&mut self, value: &'v Value, path: &Path) -> Option<Vec<&'v str>> {
        let texts = value.as_array().and_then(|items| {
            let texts = items.iter().map(Value::as_str);
            texts.collect::<Option<Vec<_>>>()
        });
        if texts.is_none() {
            self.wrong_type(path, "a list of strings", value);
        }
        texts
    }

    fn quote(&mut self, value: &Value, path: &Path) -> Option<Expr> {
        let mut chars = self.text(value, path)?.chars();
        match (chars.next(), chars.next()) {
            (Some(quote), None) => Some(build::string_content(quote)),
            _ => {
                self.add(path, "this must be one character");
                None
            }
        }
    }

    /// `min`, or so many without it, and `max`, which may be null.
    fn counts(&mut self, members: &Map, least: u32, path: &Path) -> Option<(u32, Option<u32>)> {
        let min = match members.get("min") {
            None => least,
            Some(value) => self.count(value, &path.key("min"))?,
        };
        let max = match members.get("max") {
            None | Some(Value::Null) => None,
            Some(value) => Some(self.count(value, &path.key("max"))?),
        };
        Some((min, max))
    }

    fn count(&mut self, value: &Value, path: &Path) -> Option<u32> {
        let count = match value {
            Value::Int(count) => Integer::to_string(count).parse().ok(),
            _ => None,
        };
        if count.is_none() {
            self.wrong_type(path, "a count", value);
        }
        count
    }
}

/// The expression of a name that takes nothing.
pub(super) fn bare(name: &str) -> Option<Expr> {
    let kind = match name {
        "eps" => Kind::Eps,
        "start" => Kind::Start,
        "end" => Kind::End,
        "any" => Kind::Any,
        "space" => Kind::Space,
        "cut" => Kind::Cut,
        "rest" => Kind::Until(Vec::new()),
        "json_string_content" => Kind::Quoted('"'),
        _ => {
            let value = Builtin::ALL
                .into_iter()
                .find(|value| value.name() == name)?;
            Kind::Builtin(value)
        }
    };
    Some(Expr(kind))
}

fn is_kind(key: &str) -> bool {
    TAKING.iter().any(|(name, _)| *name == key) || bare(key).is_some()
}

fn near(word: &str) -> String {
    nearest(word).map_or_else(String::new, |near| format!("; `{near}` is near"))
}

/// The expression whose name is nearest to a word, if one is near.
fn nearest(word: &str) -> Option<&'static str> {
    let names = TAKING.iter().map(|(name, _)| *name).chain(BARE);
    let names = names.chain(Builtin::ALL.map(Builtin::name));
    let alike = |name: &&str| {
        let common = name.chars().zip(word.chars()).take_while(|(a, b)| a == b);
        let common = common.count();
        let longest = name.chars().count().max(word.chars().count());
        (common * 2 > longest).then_some(common)
    };
    names
        .filter_map(|name| Some((alike(&name)?, name)))
        .max()
        .map(|(_, name)| name)
}
