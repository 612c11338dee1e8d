//! Markers that end the turns of users as well as those of the model, or are made of the role of who speaks.
//!
//! Where a chat template writes `</user>` behind what a user says, from `</`, the role and `>`, it writes `</assistant>` behind what the model says. Where that always
//! stands behind another marker, as in `</answer></assistant>`, no two renders of the model's turns part the two. The user's turn does. So it does where both turns end with the
//! same marker, and only the model's has another one before it: `Hi<over><user>` tells that `</answer><over>` are two.

use crate::chat_template::{InputStep, Origin, Traced};
use crate::derive::compare::parting::{SHORTEST, length};
use crate::derive::compare::pieces::Pieces;
use crate::derive::probe;

/// The pieces of renders, those of an answer and of a prompt first, which tell such markers as well. `marks` are known to be markers.
pub(super) fn pieces<'t>(
    own: &'t [Traced],
    renders: &'t [Traced],
    marks: impl Iterator<Item = &'t str>,
) -> Pieces {
    let mut marks: Vec<String> = marks.map(str::to_owned).collect();
    marks.extend(own.iter().filter_map(of));
    let all = |marks: &[String]| {
        let renders = own.iter().chain(renders);
        Pieces::of(renders, marks.iter().map(String::as_str))
    };
    let pieces = all(&marks);
    let ends = own.iter().filter_map(|render| shared(render, &pieces));
    let ends: Vec<String> = ends.collect();
    if ends.is_empty() {
        return pieces;
    }
    marks.extend(ends.iter().cloned());
    all(&marks).ending_turns(ends)
}

/// The marker that ends a user's turn and that of the model, if the model's has another one before it, and the pieces do not part the two.
fn shared(render: &Traced, pieces: &Pieces) -> Option<String> {
    let text = render.text.as_str();
    let asked = text.find(probe::USER)? + probe::USER.len();
    let answered = text.rfind(probe::CONTENT)? + probe::CONTENT.len();
    let run = render.runs.iter().find(|run| run.start == asked)?;
    let end = matches!(run.origin, Origin::Source { .. }).then(|| text.get(asked..run.end))??;
    let end = end.trim();
    let is_marker = length(end) >= SHORTEST && !end.contains('\n');
    let behind_answer = text[answered..].trim_start();
    let at = behind_answer.find(end).filter(|at| *at > 0)?;
    let is_parted = || pieces.edges(behind_answer).contains(&at);
    (is_marker && !is_parted()).then(|| end.to_owned())
}

/// The marker with which a turn of the model ends, if that is made of its role as the one of a user is: `</assistant>` where `</user>` follows what a user says.
fn of(render: &Traced) -> Option<String> {
    let said = render.text.find(probe::USER)? + probe::USER.len();
    let is_role = |origin: &Origin| match origin {
        Origin::Input { path, derived, .. } => {
            !derived && path.iter().last() == Some(&InputStep::Key("role".to_owned()))
        }
        Origin::Source { .. } => false,
    };
    let at = render
        .runs
        .iter()
        .position(|run| run.start >= said && is_role(&run.origin))?;
    let [before, role, behind] = [at.checked_sub(1)?, at, at + 1].map(|at| render.runs.get(at));
    let (before, role, behind) = (before?, role?, behind?);
    if before.start != said || render.text.get(role.start..role.end)? != "user" {
        return None;
    }
    let before = render.text.get(before.start..before.end)?;
    let behind = render.text.get(behind.start..behind.end)?;
    let before = before.rsplit(char::is_whitespace).next()?;
    let behind = behind.split(char::is_whitespace).next()?;
    (!before.is_empty() && !behind.is_empty()).then(|| format!("{before}assistant{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{ChatTemplate, RenderInput};
    use crate::value::json;

    /// The tokens behind the words of an answer, where `close` stands behind an answer, `end` ends every turn, and a prompt is always written.
    fn tokens(close: &str, end: &str) -> Vec<String> {
        let source = format!(
            "{{% for m in messages %}}{{% if m.role == 'user' %}}{{{{ 'U:' ~ m.content }}}}{{{{ '{end}' }}}}\
             {{% else %}}{{{{ 'B:' ~ m.content ~ '{close}{end}' }}}}{{% endif %}}{{% endfor %}}{{{{ 'B:' }}}}"
        );
        let said = [("user", probe::USER), ("assistant", probe::CONTENT)];
        let messages = said.map(|(role, text)| {
            json::parse(&format!(r#"{{"role": "{role}", "content": "{text}"}}"#)).unwrap()
        });
        let input = RenderInput {
            messages: messages.to_vec(),
            ..RenderInput::default()
        };
        let template = ChatTemplate::new(&source).unwrap();
        let own = [template.render_traced(&input).unwrap()];
        let pieces = pieces(&own, &[], std::iter::empty());
        let behind = &own[0].text[own[0].text.rfind(probe::CONTENT).unwrap()..];
        let behind = &behind[probe::CONTENT.len()..];
        let tokens = pieces.tokens(behind).into_iter();
        tokens.map(str::to_owned).collect()
    }

    #[test]
    fn the_end_of_a_users_turn_parts_the_end_of_the_models() {
        assert_eq!(tokens("</say>", "<over>"), ["</say>", "<over>", "B:"]);
        assert_eq!(tokens("dicho ", "fin "), ["dicho", "fin", "B:"]);
        // One marker ends both, so that nothing is to be parted.
        assert_eq!(tokens("", "<over>"), ["<over>B:"]);
    }
}
