//! An inspection as a table for people.

use obverse::derive::inspect::{
    After, Answers, Calls, Content, ContentPlace, Effect, GenerationPrompt, Growth, Inspection,
    Kwarg, KwargEffect, Order, Outcome, Reasoning, RenderChange, Results, RoleKeys, Roles, System,
    SystemPlace, ToolForm, Tools, ToolsPlace, Turn, refusals,
};
use obverse::value::json::to_string;
use obverse::value::{Map, Value};

use crate::cli::color::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use crate::cli::escape;
use crate::cli::table::{self, marker};

/// The width of the first column.
const COLUMN: usize = 11;

/// How many characters of a text are shown.
const SHOWN: usize = 90;

/// How many breaks of the growth are shown.
const BREAKS: usize = 4;

/// All templates, styled and escaped.
pub(super) fn inspection(found: &Inspection) -> String {
    let mut out = String::new();
    let several = found.templates.len() > 1;
    for template in &found.templates {
        let Some(answers) = &template.answers else {
            continue;
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&paint(BOLD, &escape::line(&found.source)));
        if several || template.name != "default" {
            out.push_str(&format!("  template {}", escape::line(&template.name)));
        }
        out.push_str("\n\n");
        for (name, text) in rows(answers) {
            table::row(&mut out, COLUMN, name, &text);
        }
    }
    out
}

fn rows(found: &Answers) -> Vec<(&'static str, String)> {
    vec![
        ("roles", roles(&found.roles)),
        ("orders", orders(&found.orders)),
        ("system", system(&found.system)),
        ("keys", keys(&found.message_keys)),
        ("content", content(&found.content)),
        ("tools", tools(&found.tools)),
        ("calls", calls(&found.calls)),
        ("results", results(&found.results)),
        ("reasoning", reasoning(&found.reasoning)),
        ("documents", outcome(&found.documents)),
        ("kwargs", kwargs(&found.kwargs)),
        ("tokens", tokens(&found.special_tokens, found.dated)),
        ("prompts", prompts(&found.generation_prompts)),
        ("growth", growth(&found.growth)),
    ]
}

/// An outcome in a word, with the template's own words where it refuses.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rendered => "rendered".to_owned(),
        Outcome::Printed => paint(YELLOW, "printed as a value"),
        Outcome::Dropped => paint(YELLOW, "dropped"),
        Outcome::Refused { error } => format!("{}: {}", paint(RED, "refused"), quoted(error)),
    }
}

/// A single word for an outcome.
fn word(found: &Outcome) -> String {
    match found {
        Outcome::Refused { .. } => paint(RED, "refused"),
        other => outcome(other),
    }
}

fn quoted(text: &str) -> String {
    marker(&escape::short(text, SHOWN).replace("\\n", "\n"))
}

fn dim(text: &str) -> String {
    paint(DIM, text)
}

fn roles(roles: &Roles) -> String {
    let known: Vec<String> = roles
        .known
        .iter()
        .map(|role| {
            let name = escape::line(&role.role);
            match (role.first.is_rendered(), role.later.is_rendered()) {
                (_, true) => name.into_owned(),
                (true, false) => format!("{name} (first only)"),
                (false, false) => format!("{name} ({})", word(&role.later)),
            }
        })
        .collect();
    format!(
        "{}\n{} {}",
        known.join(", "),
        dim("others"),
        outcome(&roles.unknown)
    )
}

fn turns(turns: &[Turn]) -> String {
    let names: Vec<&str> = turns
        .iter()
        .map(|turn| match turn {
            Turn::System => "system",
            Turn::User => "user",
            Turn::Assistant => "assistant",
            Turn::Call => "call",
            Turn::Tool => "tool",
        })
        .collect();
    names.join(" ")
}

fn orders(orders: &[Order]) -> String {
    let rendered = orders
        .iter()
        .filter(|order| order.outcome.is_rendered())
        .count();
    let mut lines = vec![format!("{rendered} of {} are rendered", orders.len())];
    for (error, refused) in refusals(orders) {
        let refused: Vec<String> = refused.into_iter().map(turns).collect();
        lines.push(format!("{} {}", paint(RED, "refused"), refused.join(", ")));
        lines.push(format!("  {}", dim(&quoted(error))));
    }
    for order in orders.iter().filter(|order| !order.missing.is_empty()) {
        let missing: Vec<Turn> = order
            .missing
            .iter()
            .filter_map(|index| order.order.get(*index).copied())
            .collect();
        lines.push(format!(
            "{} {}  {}",
            paint(YELLOW, "loses"),
            turns(&missing),
            dim(&format!("in {}", turns(&order.order)))
        ));
    }
    lines.join("\n")
}

fn system(system: &System) -> String {
    let mut text = outcome(&system.outcome);
    match system.place {
        Some(SystemPlace::OwnTurn) => text.push_str(", in a turn of its own"),
        Some(SystemPlace::UserTurn) => text.push_str(", in the user's turn"),
        None => {}
    }
    if let Some(default) = &system.default {
        text.push_str(&format!("\n{} {}", dim("without one"), quoted(default)));
    }
    text
}

fn keys(roles: &[RoleKeys]) -> String {
    let lines: Vec<String> = roles
        .iter()
        .map(|found| {
            // That the role is read goes without saying.
            let with = |effect: Effect| -> Vec<&str> {
                let keys = found.keys.iter().filter(|key| key.effect == effect);
                keys.map(|key| key.key.as_str())
                    .filter(|key| *key != "role")
                    .collect()
            };
            let mut text = escape::line(&with(Effect::Rendered).join(", ")).into_owned();
            for (label, keys) in [
                ("change it", with(Effect::Changes)),
                ("no effect", with(Effect::None)),
            ] {
                if !keys.is_empty() {
                    let keys = format!("({label}: {})", escape::line(&keys.join(", ")));
                    text.push_str(&format!(" {}", dim(&keys)));
                }
            }
            format!("{}: {}", escape::line(&found.role), text.trim_start())
        })
        .collect();
    lines.join("\n")
}

fn content(content: &Content) -> String {
    let mut lines = Vec::new();
    for (label, of) in [
        ("text ", |found: &obverse::derive::inspect::RoleContent| {
            found.text.clone()
        }),
        ("parts", |found: &obverse::derive::inspect::RoleContent| {
            found.parts.clone()
        }),
    ] as [(&str, fn(&obverse::derive::inspect::RoleContent) -> Outcome); 2]
    {
        let roles: Vec<String> = content
            .roles
            .iter()
            .map(|found| match of(found) {
                Outcome::Rendered => found.role.to_owned(),
                other => format!("{} ({})", found.role, word(&other)),
            })
            .collect();
        lines.push(format!("{} {}", dim(label), roles.join(", ")));
    }
    for part in &content.parts {
        let adds = match &part.adds {
            Some(adds) => format!("adds {}", quoted(adds)),
            None => outcome(&part.outcome),
        };
        lines.push(format!(
            "{} {} {adds}",
            dim("part "),
            escape::line(&part.kind)
        ));
    }
    lines.join("\n")
}

fn tools(tools: &Tools) -> String {
    let mut facts = vec![outcome(&tools.outcome)];
    facts.extend(tools.written.map(|written| {
        match written {
            ToolForm::Json => "as JSON",
            ToolForm::FunctionJson => "as JSON, without the outer object",
            ToolForm::Otherwise => "in a form of its own",
        }
        .to_owned()
    }));
    facts.extend(tools.place.map(|place| {
        match place {
            ToolsPlace::First => "before the first message",
            ToolsPlace::LastUser => "with the user's last message",
            ToolsPlace::End => "at the end",
        }
        .to_owned()
    }));
    let mut text = facts.join(", ");
    if tools.outcome.is_rendered() {
        text.push_str(&format!(
            "\n{} {}",
            dim("without the outer object"),
            word(&tools.bare)
        ));
    }
    if !tools.without.is_rendered() {
        text.push_str(&format!("\n{} {}", dim("none"), outcome(&tools.without)));
    }
    if tools.empty_is_none == Some(false) {
        text.push_str(&format!(
            "\n{}",
            dim("an empty list is not rendered as none")
        ));
    }
    text
}

fn calls(calls: &Calls) -> String {
    let Some(details) = &calls.details else {
        return outcome(&calls.outcome);
    };
    let before_next = match calls.before_next {
        true => ", only where another message follows",
        false => "",
    };
    let mut lines = vec![format!("{}{before_next}", outcome(&calls.outcome))];
    let spellings: Vec<String> = calls
        .spellings
        .iter()
        .map(|spelling| {
            let how = format!("{}, content {}", spelling.arguments, spelling.content);
            match &spelling.outcome {
                Outcome::Rendered => how,
                other => format!("{how} ({})", word(other)),
            }
        })
        .collect();
    lines.push(format!("{} {}", dim("arguments"), spellings.join("; ")));
    let place = match details.content_place {
        Some(ContentPlace::Before) => ", before the calls",
        Some(ContentPlace::After) => ", after the calls",
        None => "",
    };
    lines.push(format!(
        "{} {}{place}",
        dim("content"),
        outcome(&details.content)
    ));
    lines.push(format!("{} {}", dim("several"), outcome(&details.parallel)));
    lines.push(format!(
        "{} {}",
        dim("without the outer object"),
        word(&details.bare)
    ));
    if !details.without_tools.is_rendered() {
        lines.push(format!(
            "{} {}",
            dim("without tools"),
            outcome(&details.without_tools)
        ));
    }
    let ids = &details.ids;
    let refused: Vec<String> = ids
        .shapes
        .iter()
        .filter(|shape| !shape.outcome.is_in_text())
        .map(|shape| format!("{} {}", shape.example, outcome(&shape.outcome)))
        .collect();
    lines.push(format!(
        "{} {}, absent {}{}",
        dim("ids"),
        if ids.rendered {
            "rendered"
        } else {
            "not rendered"
        },
        outcome(&ids.absent),
        refused
            .iter()
            .map(|shape| format!("\n  {shape}"))
            .collect::<String>()
    ));
    lines.join("\n")
}

fn results(results: &Results) -> String {
    let mut text = outcome(&results.outcome);
    text.push_str(&format!(
        "\n{} {}",
        dim("an object"),
        outcome(&results.object)
    ));
    if let Some(between) = &results.between {
        text.push_str(&format!("\n{} {}", dim("between two"), quoted(between)));
    }
    text
}

fn reasoning(reasoning: &Reasoning) -> String {
    if reasoning.keys.is_empty() {
        return "never rendered".to_owned();
    }
    let mut lines = vec![
        reasoning.lifetime.to_string(),
        format!(
            "{} {}",
            dim("keys"),
            escape::line(&reasoning.keys.join(", "))
        ),
    ];
    for under in &reasoning.under {
        lines.push(format!(
            "{} {}",
            dim(&format!("with {}", setting(&under.kwargs))),
            under.lifetime
        ));
    }
    lines.join("\n")
}

/// Kwargs as they are given on the command line.
fn setting(kwargs: &Map) -> String {
    let set: Vec<String> = kwargs
        .iter()
        .map(|(name, value)| format!("{name}={}", to_string(value)))
        .collect();
    escape::short(&set.join(" "), SHOWN)
}

fn kwargs(kwargs: &[Kwarg]) -> String {
    let mut lines = Vec::new();
    let mut idle = Vec::new();
    for kwarg in kwargs {
        let name = escape::line(&kwarg.name);
        if kwarg.effects.is_empty() && !kwarg.printed {
            idle.push(name.clone());
        }
        // Where a text is wanted, that a truth is refused need not be said.
        let is_truth = |value: &Value| matches!(value, Value::Bool(_));
        let wants_text = kwarg.printed
            || kwarg.effects.iter().any(|effect| {
                effect.outcome.is_rendered()
                    && effect.values.iter().any(|value| value.as_str().is_some())
            });
        let told = |effect: &&KwargEffect| {
            !wants_text || effect.outcome.is_rendered() || !effect.values.iter().all(is_truth)
        };
        for effect in kwarg.effects.iter().filter(told) {
            lines.push(one_effect(&name, effect));
        }
        if kwarg.printed {
            lines.push(format!("{name}=TEXT is printed"));
        }
    }
    if !idle.is_empty() {
        lines.push(dim(&format!(
            "read, without effect here: {}",
            idle.join(", ")
        )));
    }
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    lines.join("\n")
}

fn one_effect(name: &str, effect: &KwargEffect) -> String {
    let values: Vec<String> = effect.values.iter().map(to_string).collect();
    let mut text = format!("{name}={}", escape::short(&values.join("|"), SHOWN));
    if !effect.outcome.is_rendered() {
        text.push_str(&format!(" {}", outcome(&effect.outcome)));
    }
    for change in &effect.changes {
        text.push_str(&format!("\n  {}", one_change(change)));
    }
    text
}

fn one_change(change: &RenderChange) -> String {
    let side = |style, sign: &str, text: &str| {
        (!text.is_empty()).then(|| paint(style, &format!("{sign}{}", quoted(text))))
    };
    let sides: Vec<String> = [
        side(RED, "-", &change.removed),
        side(GREEN, "+", &change.added),
    ]
    .into_iter()
    .flatten()
    .collect();
    sides.join(" ")
}

fn tokens(tokens: &Map, dated: bool) -> String {
    let mut lines: Vec<String> = tokens
        .iter()
        .map(|(name, token)| {
            format!(
                "{} {}",
                escape::line(name),
                marker(token.as_str().unwrap_or_default())
            )
        })
        .collect();
    if dated {
        lines.push("the date is printed".to_owned());
    }
    if lines.is_empty() {
        lines.push("none are read".to_owned());
    }
    lines.join("\n")
}

fn prompts(prompts: &[GenerationPrompt]) -> String {
    let lines: Vec<String> = prompts
        .iter()
        .map(|prompt| {
            let text = match &prompt.text {
                Some(text) if text.is_empty() => "nothing".to_owned(),
                Some(text) => quoted(text),
                None => "changes the text before it".to_owned(),
            };
            let mut places: Vec<String> = Vec::new();
            for after in [After::User, After::Tool, After::Assistant] {
                let here: Vec<String> = prompt
                    .places
                    .iter()
                    .filter(|place| place.after == after)
                    .map(|place| setting(&place.kwargs))
                    .collect();
                if here.is_empty() {
                    continue;
                }
                let name = match after {
                    After::User => "user",
                    After::Tool => "tool",
                    After::Assistant => "assistant",
                };
                // Under the default, the others need no saying.
                places.push(if here.iter().any(String::is_empty) {
                    name.to_owned()
                } else {
                    format!("{name} ({})", here.join("; "))
                });
            }
            format!("{text}  {}", dim(&format!("after {}", places.join(", "))))
        })
        .collect();
    lines.join("\n")
}

fn growth(growth: &Growth) -> String {
    if growth.appended == 0 {
        return "nothing could be appended".to_owned();
    }
    let answer = |holds: bool| {
        if holds {
            paint(GREEN, "yes")
        } else {
            paint(YELLOW, "no")
        }
    };
    let mut lines = vec![format!(
        "prefix-preserving: {}; without reasoning: {}; answers go on from the prompt: {}",
        answer(growth.prefix_preserving),
        answer(growth.without_reasoning),
        answer(growth.continues_prompt)
    )];
    for found in growth.breaks.iter().take(BREAKS) {
        lines.push(format!(
            "{} + {}{}",
            turns(&found.before),
            turns(&[found.appended]),
            dim(&format!(
                "{} at byte {} after {}",
                if found.prompt { " (prompt)" } else { "" },
                found.at,
                quoted(&found.after)
            ))
        ));
        let start = |text: &str| text.chars().take(SHOWN / 2).collect::<String>();
        lines.push(format!(
            "  {} {}",
            paint(RED, &format!("-{}", quoted(&start(&found.was)))),
            paint(GREEN, &format!("+{}", quoted(&start(&found.is))))
        ));
    }
    if growth.breaks.len() > BREAKS {
        let more = growth.breaks.len() - BREAKS;
        lines.push(dim(&format!("and {more} more, all with --format json")));
    }
    if let Some(smallest) = &growth.smallest {
        let messages = Value::Array(smallest.messages.clone());
        lines.push(format!(
            "{} {} + {}",
            dim("the smallest:"),
            quoted(&to_string(&messages)),
            quoted(&to_string(&smallest.message))
        ));
    }
    for under in &growth.under {
        lines.push(format!(
            "{} {}; {}",
            dim(&format!("with {}", setting(&under.kwargs))),
            answer(under.prefix_preserving),
            answer(under.continues_prompt)
        ));
    }
    lines.join("\n")
}
