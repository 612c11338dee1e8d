//! The circumstances under which messages are tried beside the usual ones: conversations of which few chat templates make a difference.
//!
//! A chat template may write a call, an answer or a prompt otherwise with a system message, in a later turn, with many tools, behind two results, and so
//! on. All of that at once would be thousands of conversations. So some are made in which two of these things come together, and a few messages, which
//! have each of their parts beside each other, tell whether anything is written otherwise there than in the places before.

use super::asked::MAX_ASKED;
use super::manner::Manner;
use super::message::{Assistant, Call, tool_for, tool_result};
use super::probes;
use super::renderer::{Conversation, Renderer};
use crate::value::{Map, Value};

/// How many exchanges a long conversation has, and how many tools one with many has.
const LONG: usize = 4;
const MANY: usize = 12;

/// The messages that tell whether answers are written otherwise in a conversation: one of each part, and of those that stand beside each other.
pub(super) fn answers(manner: &Manner) -> Vec<Value> {
    let said = Assistant::saying(probes::CONTENT);
    let called = Assistant::calling([probes::call(0)]);
    let of_each = [said, called.clone(), called.thinking(probes::REASONING)];
    let written = of_each.iter().map(|message| manner.write(message, None));
    written.chain(whole_answers(manner)).collect()
}

/// Those of the messages that have most parts: one without calls, and one with several.
pub(super) fn whole_answers(manner: &Manner) -> [Value; 2] {
    let thought = Assistant::saying(probes::CONTENT).thinking(probes::REASONING);
    let several = Assistant {
        calls: vec![probes::call(0), probes::call(1)],
        ..thought.clone()
    };
    [thought, several].map(|message| manner.write(&message, None))
}

/// The conversation that goes on with a call and its result, which ends with this text.
pub(super) fn after_tool(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
    end: &str,
) -> Conversation {
    let call = probes::call(2);
    let text = format!("{}{end}", probes::TOOL_RESULT);
    let result = renderer.divided(tool_result(&call, &text));
    let calling = |message: &Assistant| Conversation {
        label: "after a tool's result",
        after_tool: true,
        ..place.and([manner.write(message, None), result.clone()])
    };
    let bare = calling(&Assistant::calling([call.clone()]));
    // A chat template may ask every message for its content.
    let said = || {
        let beside = Assistant {
            content: Some(String::new()),
            ..Assistant::calling([call.clone()])
        };
        Some(calling(&beside)).filter(|place| renderer.prompt(place, manner).is_ok())
    };
    match renderer.prompt(&bare, manner) {
        Ok(_) => bare,
        Err(_) => said().unwrap_or(bare),
    }
}

/// Conversations in which two circumstances come together, of which each alone is usual.
pub(super) fn combined(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    manner: &Manner,
) -> Vec<Conversation> {
    let Some(user) = users.first() else {
        return Vec::new();
    };
    let labelled = |label, place: Conversation| Conversation { label, ..place };
    let said = |role, text: &str| renderer.said(role, text);
    let before = |place: &Conversation, role, text: &str| {
        let mut place = place.clone();
        place.history.insert(0, said(role, text));
        place
    };
    let write = |message: &Assistant| manner.write(message, None);
    let earlier = Assistant::saying(probes::EARLIER);
    let later = |place: &Conversation, earlier: &Assistant| {
        place.and([write(earlier), said("user", probes::USER_AGAIN)])
    };
    let asking = |place: &Conversation, question: &str| {
        let mut place = place.clone();
        place.history.pop();
        place.and([said("user", question)])
    };
    let system = |place: &Conversation| before(place, "system", probes::SYSTEM);
    let lines = format!("{}\n\n{}", probes::USER, probes::USER_AGAIN);
    let long = [lines.as_str(); LONG * MANY].join(" ");
    let mut all = Vec::new();
    if let Some(tooled) = users.iter().find(|place| place.tools.is_some()) {
        let one = tooled.tools.iter().flat_map(|tools| tools.first().cloned());
        let one = Conversation {
            tools: Some(one.collect()),
            ..tooled.clone()
        };
        all.extend([
            labelled(WITH_TOOLS_AND_SYSTEM, system(tooled)),
            labelled(WITH_TOOLS_LATER, later(tooled, &earlier)),
            labelled("with one tool", one),
            labelled(
                "with tools and a message of a developer",
                before(tooled, "developer", probes::SYSTEM),
            ),
            labelled(
                "with tools, after a question of several lines",
                asking(tooled, &lines),
            ),
            labelled("with tools, after a long question", asking(tooled, &long)),
            labelled(
                "with tools, in a long conversation",
                long_conversation(renderer, tooled, manner),
            ),
        ]);
    }
    let thought = earlier.clone().thinking(probes::REASONING);
    all.extend([
        labelled(WITH_SYSTEM_LATER, later(&system(user), &earlier)),
        labelled("after a turn with reasoning", later(user, &thought)),
        labelled(
            "with a message of a developer",
            before(user, "developer", probes::SYSTEM),
        ),
        labelled("with an empty system message", before(user, "system", "")),
        labelled("with two system messages", system(&system(user))),
        labelled("after a question of several lines", asking(user, &lines)),
        labelled("after a long question", asking(user, &long)),
        labelled("with a long system message", before(user, "system", &long)),
    ]);
    all
}

/// Conversations with several results, and with results and something else.
pub(super) fn with_results(
    renderer: &Renderer<'_>,
    tooled: &Conversation,
    manner: &Manner,
) -> Vec<Conversation> {
    let after = |label, place: &Conversation| Conversation {
        label,
        ..after_tool(renderer, place, manner, "")
    };
    let write = |message: &Assistant| manner.write(message, None);
    let question = || renderer.said("user", probes::USER_AGAIN);
    let answer = || write(&Assistant::saying(probes::EARLIER));
    let result = |call: &Call| renderer.divided(tool_result(call, probes::TOOL_RESULT));
    let calls = [probes::call(0), probes::call(1)];
    let both = write(&Assistant::calling(calls.clone()));
    let two = Conversation {
        label: "after two results",
        after_tool: true,
        ..tooled.and([both].into_iter().chain(calls.iter().map(result)))
    };
    let mut system = tooled.clone();
    system
        .history
        .insert(0, renderer.said("system", probes::SYSTEM));
    let later = tooled.and([answer(), question()]);
    let first = after("", tooled);
    let over = |label, messages: Vec<Value>| Conversation {
        label,
        after_tool: false,
        ..first.and(messages)
    };
    vec![
        after("after a second result", &first),
        two,
        after("with a system message, after a tool's result", &system),
        after("in a later turn, after a tool's result", &later),
        over(
            "behind an answer to a tool's result",
            vec![answer(), question()],
        ),
        over("behind a tool's result and a question", vec![question()]),
    ]
}

const WITH_TOOLS_AND_SYSTEM: &str = "with tools and a system message";
const WITH_TOOLS_LATER: &str = "with tools, in a later turn";
const WITH_SYSTEM_LATER: &str = "with a system message, in a later turn";

/// Those of the combined conversations in which each setting of the kwargs is tried.
pub(super) fn basic(combined: &[Conversation]) -> impl Iterator<Item = &Conversation> {
    let basic = [WITH_TOOLS_AND_SYSTEM, WITH_TOOLS_LATER, WITH_SYSTEM_LATER];
    combined
        .iter()
        .filter(move |place| basic.contains(&place.label))
}

/// The conversation after several exchanges.
fn long_conversation(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
) -> Conversation {
    let earlier = manner.write(&Assistant::saying(probes::EARLIER), None);
    let again = renderer.said("user", probes::USER_AGAIN);
    place.and(std::iter::repeat_n([earlier, again], LONG).flatten())
}

/// A tool whose name ends with the number.
fn numbered_tool(number: usize) -> Value {
    named_tool(&format!("{}_{number}", probes::call(number).name))
}

/// The tool with this name.
fn named_tool(name: &str) -> Value {
    tool_for(&Call {
        name: name.to_owned(),
        ..probes::call(0)
    })
}

/// Conversations that few chat templates write another prompt after: a long one, those with many tools and with tools that the chat template
/// asks for, and those in which a message has a constant that it asks for, as it asks a system message for `/no_think`.
pub(super) fn unusual(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    manner: &Manner,
) -> Vec<Conversation> {
    let Some(user) = users.first() else {
        return Vec::new();
    };
    let mut long = long_conversation(renderer, user, manner);
    long.label = "in a long conversation";
    let mut conversations = vec![long];
    // Behind the last words, each list of tools is another text.
    let is_listed_before = |place: &&Conversation| {
        let history = renderer.history(place, manner);
        place.tools.is_some() && history.is_ok_and(|history| !place.lists_tools(&history))
    };
    if let Some(tooled) = users.iter().find(is_listed_before) {
        let mut many = tooled.clone();
        many.label = "with many tools";
        many.tools = Some((0..MANY).map(numbered_tool).collect());
        let mut two = tooled.clone();
        two.label = "with two tools";
        two.tools = Some([0, 1].map(|number| tool_for(&probes::call(number))).into());
        let mut bare = tooled.clone();
        bare.label = "with a tool that has no parameters";
        bare.tools = Some(
            [tool_for(&Call {
                arguments: Map::new(),
                ..probes::call(0)
            })]
            .into(),
        );
        let mut asked = tooled.clone();
        asked.label = "with a tool that the chat template asks for";
        asked.tools = Some(renderer.named().take(MAX_ASKED).map(named_tool).collect());
        conversations.extend([many, two, bare, asked]);
    }
    let asked = renderer.asked();
    for constant in asked.filter(|text| !text.trim().is_empty()).take(MAX_ASKED) {
        let mut system = user.clone();
        system.label = "with a system message that the chat template asks for";
        system.history.insert(0, renderer.said("system", constant));
        let mut word = user.clone();
        word.label = "after a message with a word that the chat template asks for";
        word.history.pop();
        let text = format!("{} {constant}", probes::USER);
        let word = word.and([renderer.said("user", &text)]);
        conversations.extend([system, word]);
    }
    conversations
}
