//! A memory of the texts that a chat template prints of the list of tools, from one render to the next.
//!
//! Whoever derives renders thousands of conversations with the same tools, and most chat templates spend more of a render on that list than
//! on the conversation. A statement that reads the tools, and of everything else only what it has made itself, prints the same text each time; so
//! its text is kept, and printed again. The steps that it took are spent again as well, so that a render ends where it would have.
//!
//! For example `{% for tool in tools %}{{ tool | tojson }}{% endfor %}` is walked over once. With `{{ messages[0].content }}` in its body it is
//! walked over each time.
//!
//! This is right because such a statement is a function of the tools: [`reads`] finds the names that it does not bind itself, and
//! takes those alone that stand for the tools, for macros of which the same holds, or for functions without a memory of their own. At run time
//! the names must stand for that still. Renders that tell what is read remember nothing. Those that tell origins remember nothing new, and
//! print again what ends before the byte behind which origins are told.
//!
//! It costs a look-up for each loop and each expression that is printed, and one walk over each of them for each list of tools.

mod reads;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::fault::Fault;
use super::object::{Py, Scope};
use super::{Flow, Limit, MAX_OUTPUT, Render};
use crate::chat_template::Rules;
use crate::chat_template::syntax::tree::{Name, Stmt, Tree};
use crate::value::Value;

/// The name under which a chat template is given the tools.
const TOOLS: &str = "tools";

/// How many bytes are kept for one list of tools.
const MAX_KEPT: usize = 4 << 20;

/// The texts that the statements of one chat template print of one list of tools, under the same rules.
#[derive(Debug, Default)]
pub(crate) struct PrintedTools {
    /// By the address of the statement, which stays where it is as long as its chat template.
    statements: RefCell<HashMap<usize, Printed, foldhash::fast::RandomState>>,
    /// The tools as the chat template sees them.
    tools: RefCell<Option<Py>>,
    kept: RefCell<usize>,
}

/// The texts that were printed of each list of tools, by each of the rules. The lists are kept, so that another one is never taken for one of them.
#[derive(Debug, Default)]
pub(crate) struct PrintedLists(RefCell<Vec<PrintedList>>);

/// One list of tools under some rules, and the texts that were printed of it.
#[derive(Debug)]
struct PrintedList {
    tools: Rc<[Value]>,
    rules: Rules,
    printed: Rc<PrintedTools>,
}

impl PrintedLists {
    /// Returns the texts that were printed of this list so far, by a chat template that is the same for all renders with tools.
    pub(crate) fn of(&self, tools: &Rc<[Value]>, rules: Rules) -> Rc<PrintedTools> {
        let mut all = self.0.borrow_mut();
        let known = all
            .iter()
            .find(|known| Rc::ptr_eq(&known.tools, tools) && known.rules == rules);
        if let Some(known) = known {
            return Rc::clone(&known.printed);
        }
        let printed = Rc::<PrintedTools>::default();
        all.push(PrintedList {
            tools: Rc::clone(tools),
            rules,
            printed: Rc::clone(&printed),
        });
        printed
    }
}

/// A statement, as far as it is known.
#[derive(Debug, Clone)]
enum Printed {
    /// It reads more than the tools.
    Varies,
    /// It reads the tools alone, and calls these macros.
    Once {
        macros: Rc<[(Name, usize)]>,
        /// The text that it printed, and the steps that it took, once it did.
        text: Option<(Rc<str>, u64)>,
    },
}

impl PrintedTools {
    /// The tools as they were made for an earlier render, or by `make` for this one.
    pub(super) fn tools(&self, make: impl FnOnce() -> Py) -> Py {
        self.tools.borrow_mut().get_or_insert_with(make).clone()
    }

    fn of(&self, tree: &Tree, stmt: &Stmt) -> Printed {
        let mut statements = self.statements.borrow_mut();
        let find = || match reads::of_tools(tree, stmt) {
            Some(macros) => Printed::Once {
                macros: macros.into(),
                text: None,
            },
            None => Printed::Varies,
        };
        let at = std::ptr::from_ref(stmt).addr();
        statements.entry(at).or_insert_with(find).clone()
    }

    fn keep(&self, stmt: &Stmt, printed: &str, steps: u64) {
        let mut kept = self.kept.borrow_mut();
        *kept += printed.len();
        if *kept > MAX_KEPT {
            return;
        }
        let at = std::ptr::from_ref(stmt).addr();
        if let Some(Printed::Once { text, .. }) = self.statements.borrow_mut().get_mut(&at) {
            *text = Some((Rc::from(printed), steps));
        }
    }
}

impl<'t> Render<'t> {
    /// Prints what the statement printed in an earlier render, or runs it and remembers what it prints. Returns where to go on, or `None`,
    /// with nothing done, if it is to be run without that.
    pub(super) fn print_again(
        &mut self,
        stmt: &'t Stmt,
        scope: &Rc<Scope>,
    ) -> Result<Option<Flow>, Fault> {
        let Some(known) = self.printed_tools else {
            return Ok(None);
        };
        let Printed::Once { macros, text } = known.of(self.tree, stmt) else {
            return Ok(None);
        };
        let is_set = |name: Name| scope.get(name).is_some();
        let is_macro = |(name, index): &(Name, usize)| matches!(scope.get(*name), Some(Py::Macro(found, _)) if found == *index);
        if self.tree.find_name(TOOLS).is_none_or(is_set) || !macros.iter().all(is_macro) {
            return Ok(None);
        }
        let is_traced = self.trace.is_some();
        match text {
            // What a block captures may be printed anywhere.
            Some((text, _))
                if is_traced
                    && (self.captures > 0 || self.out.len() + text.len() > self.told_behind) =>
            {
                return Ok(None);
            }
            None if is_traced => return Ok(None),
            Some((text, steps)) => {
                self.spend(steps)?;
                self.out.push_untold(&text);
                if self.out.len() > MAX_OUTPUT {
                    return Err(Fault::Limit(Limit::Output, MAX_OUTPUT as u64));
                }
            }
            None => {
                let (before, fuel) = (self.out.len(), self.fuel);
                let flow = self.run_stmt(stmt, scope)?;
                // Printing again goes on behind the statement, and so it is right only for one that does.
                if flow != Flow::On {
                    return Ok(Some(flow));
                }
                let steps = fuel - self.fuel;
                known.keep(stmt, &self.out.buffer()[before..], steps);
            }
        }
        Ok(Some(Flow::On))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{Inputs, MAX_STEPS, Run, load};
    use crate::value::{Map, json};

    const TOOLS: &str = r#"[
        {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object",
            "properties": {"what": {"type": "string"}, "most": {"type": ["integer", "null"]}}, "required": ["what"]}}},
        {"type": "function", "function": {"name": "stop", "description": "Stops.", "parameters": {"type": "object", "properties": {}}}}
    ]"#;

    const CONVERSATIONS: [&str; 3] = [
        r#"[{"role": "user", "content": "Hi"}]"#,
        r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "It rains."}]"#,
        r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "id": "a12345678",
                "function": {"name": "find", "arguments": {"what": "rain"}}}]},
            {"role": "tool", "name": "find", "tool_call_id": "a12345678", "content": "none"}]"#,
    ];

    /// Behind a byte the origins are the same, whatever was printed again before it.
    #[test]
    fn origins_behind_a_byte_are_those_of_a_render_that_tells_all() {
        let tools = json::parse(TOOLS).unwrap();
        let tools: Rc<[Value]> = tools.as_array().unwrap().to_vec().into();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates");
        let mut cheaper = 0;
        for name in [
            "qwen3",
            "kimi_k2",
            "deepseek_v3_1",
            "gemma4",
            "command_r_plus",
            "gpt_oss",
        ] {
            let source = load(&folder.join(format!("{name}.jinja"))).unwrap();
            let source = source.assuming_tokens();
            let template = source.select(true).unwrap();
            let lists = PrintedLists::default();
            for conversation in CONVERSATIONS {
                let messages = json::parse(conversation).unwrap();
                let printed = lists.of(&tools, Rules::default());
                let inputs = Inputs {
                    messages: messages.as_array().unwrap(),
                    tools: Some(&tools),
                    documents: None,
                    add_generation_prompt: true,
                    kwargs: &Map::new(),
                    clock: None,
                    rules: Rules::default(),
                    printed_tools: Some(&*printed),
                };
                let mut steps = MAX_STEPS;
                let Ok(text) = template.render_borrowed(&inputs, &mut steps) else {
                    continue;
                };
                let mut of_all = MAX_STEPS;
                let all = template
                    .render_borrowed_traced(&inputs, &mut of_all)
                    .unwrap();
                for start in (1..=text.len()).step_by(7) {
                    let mut left = MAX_STEPS;
                    let behind = template.render_borrowed_traced_behind(&inputs, start, &mut left);
                    let behind = behind.unwrap();
                    let of_all_behind = all.runs.iter().filter(|run| run.end > start);
                    assert_eq!(behind.text, text, "{name}");
                    assert_eq!(left, of_all, "{name}");
                    let clip = |run: &Run| (run.start.max(start), run.end, run.origin.clone());
                    let of_behind: Vec<_> = behind.runs.iter().map(clip).collect();
                    let meant: Vec<_> = of_all_behind.map(clip).collect();
                    assert_eq!(of_behind, meant, "{name} behind {start}");
                    cheaper += usize::from(behind.runs.len() < all.runs.len());
                }
            }
        }
        assert!(cheaper > 0);
    }

    /// Each of our chat templates prints the same with what it printed before and without, and takes the same steps.
    #[test]
    fn what_is_printed_again_is_what_would_be_printed() {
        let tools = json::parse(TOOLS).unwrap();
        let tools: Rc<[Value]> = tools.as_array().unwrap().to_vec().into();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates");
        let mut remembered = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "jinja")
            {
                continue;
            }
            let source = load(&path).unwrap().assuming_tokens();
            let template = source.select(true).unwrap();
            let lists = PrintedLists::default();
            for conversation in CONVERSATIONS.iter().chain(&CONVERSATIONS) {
                let messages = json::parse(conversation).unwrap();
                for list_methods in [false, true] {
                    let rules = Rules {
                        list_methods,
                        ..Rules::default()
                    };
                    let printed = lists.of(&tools, rules);
                    let render = |printed_tools| {
                        let inputs = Inputs {
                            messages: messages.as_array().unwrap(),
                            tools: Some(&tools),
                            documents: None,
                            add_generation_prompt: true,
                            kwargs: &Map::new(),
                            clock: None,
                            rules,
                            printed_tools,
                        };
                        let mut steps = MAX_STEPS;
                        let rendered = template.render_borrowed(&inputs, &mut steps);
                        (rendered.map_err(|error| error.to_string()), steps)
                    };
                    assert_eq!(render(Some(&*printed)), render(None), "{}", path.display());
                }
            }
            let texts = lists.0.borrow();
            remembered += usize::from(texts.iter().any(|list| {
                let statements = list.printed.statements.borrow();
                let mut all = statements.values();
                all.any(|one| matches!(one, Printed::Once { text: Some(_), .. }))
            }));
        }
        assert!(
            remembered > 20,
            "of {remembered} chat templates something was remembered"
        );
    }
}
