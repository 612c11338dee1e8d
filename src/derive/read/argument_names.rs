//! How the names of arguments are written that are no words: some chat templates put them in quotes, as TOML and Ruby need them.

use super::anchor::Anchor;
use super::arguments::{Order, Pairs};
use crate::derive::probe::{self, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::Map;

/// The characters of names that are no words.
const SIGNS: [char; 4] = ['-', '.', ' ', ':'];

/// Looks for the quotes of names that are no words, where names stand before their values. For example, `wind-speed` may be written `"wind-speed" = 4`, and `wind` without quotes.
pub(in crate::derive) fn learn(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    pairs: &mut Pairs,
) {
    if pairs.order == Order::ValueFirst {
        return;
    }
    let call = probe::call_with(0, 1);
    let Some((key, value)) = call.arguments.iter().next() else {
        return;
    };
    pairs.name_quotes = SIGNS.into_iter().find_map(|sign| {
        let name = format!("{key}{sign}{key}");
        let mut call = call.clone();
        call.arguments = Map::from_iter([(name.clone(), value.clone())]);
        let turn = anchor.turn_calling(renderer, context, dialect, call)?;
        around(pairs, &turn, &name, value.as_str()?)
    });
}

/// The quotes around a name: the texts right before and behind it that stand there beside what stands around every name.
fn around(pairs: &Pairs, turn: &str, name: &str, value: &str) -> Option<(String, String)> {
    let (before, behind) = turn.split_once(name)?;
    let (behind, _) = behind.split_once(value)?;
    let mut betweens = pairs.value.iter().map(|around| around.between.as_str());
    let close = betweens.find_map(|between| behind.strip_suffix(between))?;
    // Behind the name its quote is all that stands before what follows every name. Before the name it is as long.
    let open = before.get(before.len().checked_sub(close.len())?..)?;
    let is_quote = |text: &str| !text.is_empty() && !text.contains(char::is_alphanumeric);
    let is_opened = before.strip_suffix(open)?.ends_with(pairs.open.as_str());
    // Before every name the same may stand already.
    let is_new = !pairs.open.ends_with(open);
    (is_quote(open) && is_quote(close) && is_opened && is_new)
        .then(|| (open.to_owned(), close.to_owned()))
}
