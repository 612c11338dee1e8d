//! Responses made up from a response template alone, where no chat template shows how a format is written.
//!
//! For each field regions are made up: its delimiters as its patterns may be written, and a text or calls between them as its content parser
//! reads them. Each region, and each pair of them, is read by the response template, and kept if it comes back as what it was
//! made of. So the response template itself says what may follow what, and at which places white space changes nothing. What it cannot say, such as
//! in which order a model writes the fields, is left as free as it leaves it.

mod arguments;
mod bodies;

use std::sync::Arc;

use super::{Format, Spaces};
use crate::judge::Case;
use crate::judge::message::CALLS_KEY;
use crate::parser::ResponseParser;
use crate::pattern::Pattern;
use crate::pattern::written::{Written, written};
use crate::response_template::{Field, ResponseTemplate};
use crate::value::{Map, Value, json};
use bodies::Body;

/// The name of the one tool that is called in what is made up.
pub(super) const TOOL: &str = "lookup";

/// The text of a region.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Says {
    /// A text.
    Text(&'static str),
    /// Nothing: there is no more than what closes it.
    Nothing,
    /// Any other value, which is not looked at.
    Other,
    /// Calls of the one tool with these arguments.
    Calls(Vec<Map>),
}

/// A region that was made up.
#[derive(Debug, Clone)]
struct Region {
    field: usize,
    written: Written,
    says: Says,
    /// True if the body says as much as others do, so that only its delimiters are tried beside others.
    is_plain: bool,
    /// True if nothing is written to close it, although something can be.
    is_unclosed: bool,
    /// True if it has what closes the implicit field, which may stand behind any other.
    ends_turn: bool,
}

/// A made-up response and the places at which white space changes nothing.
#[derive(Debug)]
pub(super) struct MadeUp {
    pub(super) case: Case,
    pub(super) spaces: Spaces,
}

/// Everything that was made up.
#[derive(Debug, Default)]
pub(super) struct All {
    pub(super) responses: Vec<MadeUp>,
    /// The fields that were not understood and are left out.
    pub(super) left_out: Vec<String>,
}

/// The most pairs of regions that are tried.
const MAX_PAIRS: usize = 6_000;

/// Makes up responses of a response template.
pub(super) fn responses(template: &Arc<ResponseTemplate>) -> All {
    let mut all = All::default();
    let maker = Maker {
        template,
        tools: arguments::tools(),
    };
    let mut regions: Vec<Region> = Vec::new();
    for (index, field) in template.fields().iter().enumerate() {
        let mut why = None;
        let mut kept = Vec::new();
        match bodies::of(field, Format::is_calls(template, index)) {
            Ok(bodies) => {
                for region in maker.regions(index, field, &bodies) {
                    match maker.read(&[&region]) {
                        Ok(read) => kept.push((region, read)),
                        Err(text) => why = why.or(Some(text)),
                    }
                }
            }
            Err(text) => why = Some(text),
        }
        if kept.is_empty() {
            let why = why.unwrap_or_else(|| "nothing could be made up that opens it".to_owned());
            let name = json::quote(&field.name);
            all.left_out.push(format!("the field {name}: {why}"));
        }
        // A region that is not closed is made up where there is none that is.
        let has_closed = kept.iter().any(|(region, _)| !region.is_unclosed);
        kept.retain(|(region, _)| !has_closed || !region.is_unclosed);
        for (region, read) in kept {
            if region.says != Says::Nothing {
                all.responses.push(read);
            }
            regions.push(region);
        }
    }
    maker.pairs(&regions, &mut all);
    all
}

struct Maker<'t> {
    template: &'t Arc<ResponseTemplate>,
    tools: Vec<Value>,
}

impl Maker<'_> {
    /// Makes up the regions of a field: each way to open and to close it around one body, and each body between one of these.
    fn regions(&self, index: usize, field: &Field, bodies: &[Body]) -> Vec<Region> {
        let opens = match &field.open {
            None => vec![Written::default()],
            Some(open) => delimiter(field, open),
        };
        let closes = match &field.close {
            // The implicit field ends where something else begins.
            None => vec![Written::default()],
            Some(close) if field.open.is_none() => {
                let mut closes = delimiter(field, close);
                closes.insert(0, Written::default());
                closes
            }
            Some(close) => delimiter(field, close),
        };
        let mut bodies = bodies.to_vec();
        if field.open.is_none() {
            bodies.push(Body {
                written: Written::default(),
                says: Says::Nothing,
                is_plain: true,
            });
        }
        let mut regions = Vec::new();
        for open in &opens {
            for body in &bodies {
                for close in &closes {
                    let is_nothing = field.open.is_none() && close.text.is_empty();
                    if body.says == Says::Nothing && is_nothing {
                        continue;
                    }
                    let mut written = open.clone();
                    written.push(&body.written);
                    written.push(close);
                    regions.push(Region {
                        field: index,
                        written,
                        says: body.says.clone(),
                        is_plain: body.is_plain,
                        is_unclosed: field.open.is_some()
                            && field.close.is_some()
                            && close.text.is_empty(),
                        ends_turn: field.open.is_none() && !close.text.is_empty(),
                    });
                }
            }
        }
        regions
    }

    /// Tries which regions may follow which.
    fn pairs(&self, regions: &[Region], all: &mut All) {
        let mut tried = 0;
        for first in regions {
            for second in regions {
                // Behind what closes the implicit field the turn is over.
                if !first.is_plain || !second.is_plain || first.ends_turn {
                    continue;
                }
                if tried == MAX_PAIRS {
                    let text = "there are more ways to write its delimiters than are tried, so that some regions may not follow others";
                    all.left_out.push(text.to_owned());
                    return;
                }
                tried += 1;
                if let Ok(read) = self.read(&[first, second]) {
                    all.responses.push(read);
                }
            }
        }
    }

    /// Reads regions one after the other, with white space at as many places as it may stand at.
    fn read(&self, regions: &[&Region]) -> Result<MadeUp, String> {
        let mut apart = Written::default();
        let mut together = Written::default();
        let mut outer = vec![0];
        for region in regions {
            apart.space();
            apart.push(&region.written);
            together.push(&region.written);
            outer.push(together.text.len());
        }
        apart.space();
        self.says(&together.text, regions)?;
        let is_loose = |written: &Written| {
            let mut fillings = ["\n", " "].into_iter();
            fillings.all(|space| self.says(&written.filled(space), regions).is_ok())
        };
        let spaces = if is_loose(&apart) {
            Spaces {
                inner: together.spaces,
                outer,
            }
        } else if is_loose(&together) {
            Spaces {
                inner: together.spaces,
                outer: Vec::new(),
            }
        } else {
            Spaces::default()
        };
        let calls = regions.iter().flat_map(|region| match &region.says {
            Says::Calls(calls) => calls.iter().map(arguments::call).collect(),
            _ => Vec::new(),
        });
        let calls: Vec<Value> = calls.collect();
        let message = [(CALLS_KEY.to_owned(), Value::Array(calls))];
        Ok(MadeUp {
            spaces,
            case: Case {
                prefix: String::new(),
                response: together.text,
                tools: self.tools.clone(),
                message: Value::Object(Map::from_iter(message)),
            },
        })
    }

    /// Tells why a response does not say what these regions do.
    fn says(&self, response: &str, regions: &[&Region]) -> Result<(), String> {
        let failed = |error: crate::parser::ParseError| {
            format!("{} is not read: {error}", json::quote(response))
        };
        let mut parser =
            ResponseParser::new(Arc::clone(self.template), "", &self.tools).map_err(failed)?;
        parser.feed(response).map_err(failed)?;
        let (message, _) = parser.finalize().map_err(failed)?;
        let is_lost = || {
            Err(format!(
                "{} is read as something else",
                json::quote(response)
            ))
        };
        if parser
            .unclaimed()
            .iter()
            .any(|one| !one.text.trim().is_empty())
        {
            return is_lost();
        }
        for (index, field) in self.template.fields().iter().enumerate() {
            let said = regions.iter().filter(|region| region.field == index);
            let said: Vec<&Says> = said.map(|region| &region.says).collect();
            let found = message.get(&field.name);
            if !fits(field, &said, found, self.template.defaults()) {
                return is_lost();
            }
        }
        Ok(())
    }
}

/// The texts that a delimiter of the field may be written as.
fn delimiter(field: &Field, pattern: &Pattern) -> Vec<Written> {
    let name = bodies::name_group(field);
    let name = name.as_deref().map(|group| (group, TOOL));
    let mut made = written(pattern, name.as_slice());
    // What is as long as it can be says most.
    made.sort_by_key(|one| one.text.is_empty());
    made
}

/// Returns true if the value of a field says what its regions said.
fn fits(field: &Field, said: &[&Says], found: Option<&Value>, defaults: &Map) -> bool {
    let said: Vec<&Says> = said
        .iter()
        .copied()
        .filter(|one| **one != Says::Nothing)
        .collect();
    if said.is_empty() {
        return found.is_none() || found == defaults.get(&field.name);
    }
    if said.iter().all(|one| matches!(one, Says::Other)) {
        return found.is_some();
    }
    let words = said.iter().map(|one| match one {
        Says::Text(word) => Some(*word),
        _ => None,
    });
    if let Some(words) = words.collect::<Option<Vec<&str>>>() {
        return match (found, &field.join) {
            (Some(Value::String(text)), Some(join)) => text.trim() == words.join(join),
            (Some(Value::String(text)), None) => words.len() == 1 && text.trim() == words[0],
            (Some(Value::Array(items)), _) => {
                let items: Option<Vec<&str>> = items
                    .iter()
                    .map(|item| Some(item.as_str()?.trim()))
                    .collect();
                items.is_some_and(|items| items == words)
            }
            _ => false,
        };
    }
    let calls = said.iter().flat_map(|one| match one {
        Says::Calls(calls) => calls.as_slice(),
        _ => &[],
    });
    let calls: Vec<&Map> = calls.collect();
    let Some(found) = found else {
        return false;
    };
    let found = arguments::flat(found);
    found.len() == calls.len()
        && found
            .iter()
            .zip(calls)
            .all(|(found, call)| arguments::is_call(found, call))
}
