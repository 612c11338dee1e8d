//! How the names of arguments are written that are no words: some chat templates put them in quotes, as TOML and Ruby need them.

use super::anchor::Anchor;
use super::arguments::Pairs;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::{Map, Value};

/// The characters of names that are no words.
const SIGNS: [char; 4] = ['-', '.', ' ', ':'];

/// Looks for the quotes of names that are no words. For example, `wind-speed` may be written `"wind-speed" = 4`, and `wind` without quotes.
pub(in crate::derive) fn learn(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    pairs: &mut Pairs,
) {
    let call = probe::call_with(0, 1);
    let Some((key, value)) = call.arguments.iter().next() else {
        return;
    };
    let quotes = SIGNS.into_iter().find_map(|sign| {
        let name = format!("{key}{sign}{key}");
        let mut call = call.clone();
        call.arguments = Map::from_iter([(name.clone(), value.clone())]);
        let message = dialect.write(&Assistant::calling([call.clone()]));
        let turn = renderer.turn(context, &message).ok()?;
        let turn = anchor.turn(&turn.full, &call.name)?;
        around(pairs, turn, &name, value)
    });
    pairs.name_quotes = quotes;
}

/// The texts right before and behind a name that stand there beside what stands around every name.
fn around(pairs: &Pairs, turn: &str, name: &str, value: &Value) -> Option<(String, String)> {
    let (before, behind) = turn.split_once(name)?;
    let (behind, _) = behind.split_once(value.as_str()?)?;
    let mut betweens = pairs.value.iter().map(|around| around.between.as_str());
    let close = betweens.find_map(|between| behind.strip_suffix(between))?;
    let is_quote = |text: &str| !text.is_empty() && !text.contains(char::is_alphanumeric);
    // One character is enough for a quote, and what stands before it is told by what opens an argument.
    let open = before.get(before.len().checked_sub(close.len())?..)?;
    let is_opened = before.strip_suffix(open)?.ends_with(pairs.open.as_str());
    let is_new = !pairs.open.ends_with(open) || pairs.open.is_empty();
    (is_quote(open) && is_quote(close) && is_opened && is_new)
        .then(|| (open.to_owned(), close.to_owned()))
}
