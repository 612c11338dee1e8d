//! The renderer of a chat template: variants of one conversation, rendered for comparison.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::cache::{Conversation, RenderCache};
use super::conversation::{Context, Turn};
use web_time::Instant;

use super::cutting::{self, Cutting};
use super::requirements::Requirements;
use super::role_end;
use super::trailer;
use super::unasked;
use super::varying::Varying;
use crate::chat_template::{
    self, ChatTemplate, ChatTemplateSource, Clock, Inputs, PrintedLists, Reads, RenderError, Rules,
    Traced,
};
use crate::derive::choice::{Choices, DecisionId, Preference};
use crate::derive::compare::pieces::Pieces;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::judge::slot::Slot;
use crate::value::{Map, Value, json};

/// The steps that all renders of one derivation may take together. The real chat templates that were tried stay well below it.
pub(in crate::derive) const MAX_STEPS: u64 = 100_000_000;

/// How many different settings of the kwargs are examined; beyond that they repeat each other.
const MAX_SETTINGS: usize = 8;

/// A chat template with all that stays the same from variant to variant.
#[derive(Debug)]
pub(in crate::derive) struct Renderer<'a> {
    source: &'a ChatTemplateSource,
    clock: Option<Clock>,
    /// How many of the [`MAX_STEPS`] are left.
    steps: Rc<Cell<u64>>,
    /// The requirements that every input must meet.
    pub(in crate::derive) requirements: Requirements,
    /// The texts that are written beside the messages, by the kwargs under which they were looked for.
    added: RefCell<Vec<(Map, Added)>>,
    /// How many renders were made, and how long they took.
    rendered: Cell<(usize, Duration)>,
    /// The renders that are kept.
    cache: RenderCache,
    /// The tools that the calls of the probes call.
    pub(super) tools: Rc<[Value]>,
    /// The constants at which the template cuts an answer, once they were looked for.
    cutting: OnceCell<Cutting>,
    /// The texts that were printed of each list of tools.
    printed: PrintedLists,
    /// The pieces of which renders are made.
    pub(in crate::derive) pieces: Rc<Pieces>,
    /// The places beside the content where texts are taken, as far as renders show them.
    pub(in crate::derive) slots: Vec<Slot>,
    /// Those where the text of calls is taken, which is no reasoning.
    pub(in crate::derive) slots_of_calls: Vec<Slot>,
    /// The kwargs that are never set.
    pub(in crate::derive) unset: Vec<String>,
    /// True if calls are rendered with their arguments as text alone, where both are.
    pub(in crate::derive) text_arguments: bool,
    /// True if calls are rendered only where another message follows.
    pub(in crate::derive) calls_followed: bool,
    /// True if calls are rendered without the header of a turn, unless an answer stands beside them.
    pub(in crate::derive) calls_headless: bool,
    /// The texts of probes that the template writes as JSON.
    pub(in crate::derive) json_texts: Vec<&'static str>,
    /// The beginnings of turns in prompts that have a mark behind what the others begin a turn with.
    marks: RefCell<Vec<String>>,
    /// The parts of the template's own texts that vary, for which renders are read with slots.
    varying: Varying,
    /// The decisions between several candidates.
    pub(in crate::derive) choices: Choices,
    /// True if the template renders with and without tools.
    pub(in crate::derive) without_tools: bool,
    pub(in crate::derive) with_tools: bool,
}

/// The texts that a template writes after the messages, asked for or not.
#[derive(Debug, Clone, Default)]
struct Added {
    /// The generation prompt that is written unasked.
    prompt: Option<String>,
    /// The text that belongs to no message, and stands before a generation prompt.
    trailer: Option<String>,
    /// The list of the tools, where it stands behind the messages.
    listed: Option<String>,
    /// True if there were several candidates for these texts.
    is_asked: bool,
}

impl<'a> Renderer<'a> {
    /// A chat template of which nothing is known yet.
    pub(super) fn bare(source: &'a ChatTemplateSource, clock: Option<Clock>) -> Self {
        Self {
            source,
            clock,
            steps: Rc::new(Cell::new(MAX_STEPS)),
            requirements: Requirements::default(),
            added: RefCell::default(),
            rendered: Cell::default(),
            cache: RenderCache::default(),
            tools: (0..3)
                .map(|number| probe::tool_for(&probe::call(number)))
                .collect(),
            cutting: OnceCell::new(),
            printed: PrintedLists::default(),
            pieces: Rc::default(),
            slots: Vec::new(),
            slots_of_calls: Vec::new(),
            unset: Vec::new(),
            text_arguments: false,
            calls_followed: false,
            calls_headless: false,
            json_texts: Vec::new(),
            marks: RefCell::default(),
            varying: Varying::default(),
            choices: Choices::default(),
            without_tools: true,
            with_tools: true,
        }
    }

    /// Renders by these rules from now on: those by which the template renders calls.
    pub(in crate::derive) fn adopt(&mut self, rules: Rules) {
        if self.requirements.rules != rules {
            self.requirements.rules = rules;
            self.added = RefCell::default();
            self.cache = RenderCache::default();
        }
    }

    /// Learns what some prompts begin a turn with, and returns true if any of it is new.
    pub(in crate::derive) fn know_marks(&self, found: &[String]) -> bool {
        let mut marks = self.marks.borrow_mut();
        let before = marks.len();
        for mark in found {
            if !marks.contains(mark) {
                marks.push(mark.clone());
            }
        }
        marks.len() > before
    }

    /// Forgets what it learnt of marks.
    pub(in crate::derive) fn forget_marks(&self) {
        self.marks.borrow_mut().clear();
    }

    /// The beginnings of turns in prompts that have a mark behind what the others begin a turn with.
    pub(in crate::derive) fn marks(&self) -> Vec<String> {
        self.marks.borrow().clone()
    }

    /// Learns the pieces of which renders are made, from these renders and from those of the renderer's own conversations.
    pub(in crate::derive) fn know(&mut self, renders: &[Traced]) {
        let user = self.user(false);
        let plain = Conversation {
            context: user.and(Dialect::standard().write(&Assistant::saying(probe::CONTENT))),
            add_generation_prompt: false,
            start: 0,
        };
        let prompt = Conversation {
            context: user,
            add_generation_prompt: true,
            start: 0,
        };
        let own = [plain, prompt];
        let own: Vec<Traced> = own
            .iter()
            .filter_map(|conversation| Some(self.traced(conversation)?.2))
            .collect();
        // Delimiters are read off the given renders, so what varies in them becomes slots. Where no renders are given, only features are
        // looked for, and the texts stay.
        if !renders.is_empty() {
            let kwargs = self.kwargs().into_iter().map(|(name, _)| name);
            let names: Vec<String> = kwargs.chain(["strftime_now".to_owned()]).collect();
            let all: Vec<&Traced> = own.iter().chain(renders).collect();
            self.varying = Varying::of(&all, &names);
        }
        if !self.varying.is_nothing() {
            self.added = RefCell::default();
            self.cache = RenderCache::default();
        }
        self.pieces = Rc::new(role_end::pieces(&own, renders, self.source.marks()));
    }

    /// The tokens that were added to the tokenizer's vocabulary, where it is at hand.
    pub(in crate::derive) fn added_tokens(&self) -> impl Iterator<Item = &'a str> {
        self.source.tokens.added()
    }

    /// The constants that the chat template compares anything with, or searches texts for.
    pub(in crate::derive) fn asked(&self) -> impl Iterator<Item = &'a str> {
        let templates = self.source.templates.iter();
        let asked = templates.flat_map(|(_, template)| template.asked());
        asked.map(String::as_str)
    }

    /// Returns the renderer without making parts of contents, for callers that try the forms of contents themselves.
    #[must_use]
    pub(in crate::derive) fn with_contents_as_they_are(mut self) -> Self {
        self.requirements.parts = false;
        // The renders so far were made with content as a list of parts, so what was found by them no longer holds.
        self.added = RefCell::default();
        self.cache = RenderCache::default();
        self
    }

    /// Begins anew, with these candidates to be taken.
    pub(in crate::derive) fn begin(&self, wanted: Vec<Preference>) {
        self.choices.want(wanted);
        // The ends of conversations were decided before; with other candidates they may be others.
        let mut added = self.added.borrow_mut();
        added.retain(|(_, added)| !added.is_asked);
    }

    pub(in crate::derive) fn prompt(&self, context: &Context) -> Result<String, RenderError> {
        self.render(context, true)
    }

    /// The context alone, without the generation prompt, even where the template writes one unasked.
    pub(in crate::derive) fn history(&self, context: &Context) -> Result<String, RenderError> {
        // This is asked for first, since finding it out renders other conversations, and `context` is to be the last that was rendered.
        let added = self.added(&context.kwargs);
        let text = self.render(context, false)?;
        Ok(without(text, added.prompt.as_deref()))
    }

    /// Renders the messages alone: the context without the texts that the template writes after them before a generation prompt.
    pub(super) fn messages(&self, context: &Context) -> Result<String, RenderError> {
        let text = self.history(context)?;
        let added = self.added(&context.kwargs);
        let text = without(text, added.trailer.as_deref());
        let listed = added.listed.filter(|_| context.tools.is_some());
        Ok(without(text, listed.as_deref()))
    }

    /// Returns the text that the template writes after the last message and that belongs to none.
    pub(in crate::derive) fn trailer(&self, context: &Context) -> Option<String> {
        self.added(&context.kwargs).trailer
    }

    /// Returns what the template writes behind the last message begins with, a marker each: a generation prompt unasked, a trailer, the tools.
    pub(in crate::derive) fn behind_messages(&self, context: &Context) -> Vec<String> {
        let added = self.added(&context.kwargs);
        let texts = [&added.prompt, &added.trailer, &added.listed];
        let marker = |text: &String| {
            let text = text.trim_start();
            text[..self.pieces.first_end(text).unwrap_or(text.len())].to_owned()
        };
        texts.into_iter().flatten().map(marker).collect()
    }

    fn added(&self, kwargs: &Map) -> Added {
        let mut added_before = self.added.borrow_mut();
        if let Some((_, added)) = added_before.iter().find(|(under, _)| under == kwargs) {
            return added.clone();
        }
        let added = Added {
            listed: self.find_listed(kwargs),
            ..self.find_added(kwargs).unwrap_or_default()
        };
        added_before.push((kwargs.clone(), added.clone()));
        added
    }

    fn find_added(&self, kwargs: &Map) -> Option<Added> {
        let user = self.user(false).under(kwargs);
        let asked = self.render(&user, false).ok()?;
        let prompt = self.render(&user, true).ok()?;
        let answered = user.and(Dialect::standard().write(&Assistant::saying(probe::CONTENT)));
        let answered_text = self.render(&answered, false).ok()?;
        if prompt != asked {
            let trailer = trailer::read(&asked, &prompt, &answered_text)?;
            let taken = self
                .choices
                .choose(DecisionId::Trailer, trailer.candidates());
            return Some(Added {
                prompt: None,
                trailer: taken.flatten().map(str::to_owned),
                listed: None,
                is_asked: true,
            });
        }
        let asked_again = answered.and(probe::message("user", probe::USER_AGAIN));
        let renders = unasked::Renders {
            asked: &asked,
            answered: &answered_text,
            asked_again: &self.render(&asked_again, false).ok()?,
        };
        let candidates = unasked::candidates(&renders, &self.pieces);
        let taken = self.choices.choose(DecisionId::UnaskedPrompt, candidates);
        Some(Added {
            is_asked: taken.is_some(),
            prompt: taken.flatten().map(str::to_owned),
            trailer: None,
            listed: None,
        })
    }

    fn find_listed(&self, kwargs: &Map) -> Option<String> {
        if !self.with_tools || !self.without_tools {
            return None;
        }
        let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
        let [without, with] = [false, true].map(|tools| self.user(tools).under(kwargs));
        let answered = with.and(answer.clone());
        let later = answered.and(probe::message("user", probe::USER_AGAIN));
        let name = probe::function_name(self.tools.first()?)?;
        let listed = trailer::of_tools(
            &self.render(&without.and(answer), false).ok()?,
            &self.render(&answered, false).ok()?,
            &self.render(&with, false).ok()?,
            &self.render(&later, false).ok()?,
            name,
        )?
        .to_owned();
        Some(listed)
    }

    pub(in crate::derive) fn turn(
        &self,
        context: &Context,
        message: &Value,
    ) -> Result<Turn, RenderError> {
        Ok(Turn {
            full: self.answer(context, message)?,
            prompt: self.prompt(context)?,
        })
    }

    /// A message that a user answers, rendered up to that answer's first letter.
    pub(in crate::derive) fn answered(
        &self,
        context: &Context,
        message: &Value,
    ) -> Result<Option<String>, RenderError> {
        let next = context
            .and(message.clone())
            .and(probe::message("user", probe::USER_AGAIN));
        let full = self.history(&next)?;
        Ok(full
            .rfind(probe::USER_AGAIN)
            .map(|at| full[..at].to_owned()))
    }

    /// Returns the inputs that the template reads of an assistant's message that has everything.
    pub(in crate::derive) fn reads(
        &self,
        context: &Context,
        dialect: &Dialect,
        message: &Assistant,
    ) -> Option<Rc<Reads>> {
        let context = context.and(dialect.write(message));
        let observe = || Some(self.observe(&context, false).ok()?.1);
        self.cache.reads(&context, observe)
    }

    /// Returns the render of a context, and the inputs that the template asked for on the way.
    pub(in crate::derive) fn observe(
        &self,
        context: &Context,
        add_generation_prompt: bool,
    ) -> Result<(String, Reads), RenderError> {
        let inputs = self.inputs(context, add_generation_prompt);
        self.spend(&self.requirements, &inputs, |template, inputs, steps| {
            template.render_borrowed_observed(inputs, steps)
        })
    }

    /// Returns for each text a conversation that was rendered as that text.
    pub(in crate::derive) fn rendered_as(&self, texts: &[&str]) -> Vec<Option<Conversation>> {
        self.cache.rendered_as(texts)
    }

    /// A conversation's render with the origin of every byte, and the chat template that rendered it, with its name where there
    /// are several.
    pub(in crate::derive) fn traced(
        &self,
        conversation: &Conversation,
    ) -> Option<(Option<&'a str>, &'a ChatTemplate, Traced)> {
        let context = &conversation.context;
        let template = self.source.select(context.tools.is_some()).ok()?;
        let mut named = self.source.templates.iter();
        let name = named.find(|(_, known)| std::ptr::eq(known, template));
        let name = name.filter(|_| self.source.templates.len() > 1);
        let inputs = self.inputs(context, conversation.add_generation_prompt);
        let traced = self.render_traced(&inputs).ok()?;
        Some((name.map(|(name, _)| name.as_str()), template, traced))
    }

    /// Renders with origins, with slots for what varies in the template's own texts.
    fn render_traced(&self, inputs: &Inputs<'_>) -> Result<Traced, RenderError> {
        let traced = self.spend(
            &self.requirements,
            inputs,
            ChatTemplate::render_borrowed_traced,
        )?;
        Ok(match self.varying.is_nothing() {
            true => traced,
            false => self.varying.to_slots(&traced),
        })
    }

    /// The prompt of a context with documents for retrieval.
    pub(in crate::derive) fn with_documents(
        &self,
        context: &Context,
        documents: &[Value],
    ) -> Result<String, RenderError> {
        let inputs = Inputs {
            documents: Some(documents),
            ..self.inputs(context, true)
        };
        self.spend(&self.requirements, &inputs, ChatTemplate::render_borrowed)
    }

    /// The settings of kwargs under which the model's turn begins or renders differently, the default first.
    ///
    /// Each variable that the template reads and nobody gives is set to true, to false and to each constant that the
    /// template compares it with.
    pub(in crate::derive) fn settings(&self, context: &Context, messages: &[Value]) -> Vec<Map> {
        let signature = |kwargs: &Map| -> Option<Vec<String>> {
            let context = context.under(kwargs);
            let prompt = self.prompt(&context).ok()?;
            let mut tails = vec![after_user(&prompt)];
            for message in messages {
                tails.push(
                    self.turn(&context, message)
                        .map_or_else(|_| String::new(), |turn| after_user(&turn.full)),
                );
            }
            Some(tails)
        };
        let mut settings = vec![Map::new()];
        let mut seen: Vec<_> = signature(&Map::new()).into_iter().collect();
        for (name, values) in self.settings_to_try() {
            for value in values {
                let kwargs = Map::from_iter([(name.clone(), value)]);
                match signature(&kwargs) {
                    Some(found) if !seen.contains(&found) && settings.len() < MAX_SETTINGS => {
                        seen.push(found);
                        settings.push(kwargs);
                    }
                    _ => {}
                }
            }
        }
        settings
    }

    /// The variables worth setting, and documents, each with the values worth trying.
    fn settings_to_try(&self) -> Vec<(String, Vec<Value>)> {
        let mut settings = self.source.settings();
        settings.retain(|(name, _)| !self.unset.contains(name));
        settings
    }

    /// The variables worth setting, each with the values worth trying.
    pub(in crate::derive) fn kwargs(&self) -> Vec<(String, Vec<Value>)> {
        let mut kwargs = self.settings_to_try();
        kwargs.retain(|(name, _)| name != chat_template::DOCUMENTS);
        kwargs
    }

    /// The constants of every template of the source.
    pub(in crate::derive) fn constants(&self) -> impl Iterator<Item = &'a str> {
        self.source
            .templates
            .iter()
            .flat_map(|(_, template)| template.constants().iter().map(String::as_str))
    }

    /// Returns the constants at which the template cuts an answer. Another question follows with its answer, and a prompt behind a third one: some chat templates
    /// leave the last answer whole, and some all of them where no prompt is asked for.
    pub(in crate::derive) fn cutting(&self) -> &Cutting {
        let answer = |content: &str| Dialect::standard().write(&Assistant::saying(content));
        let answered = |content: &str| {
            let asked = self.user(false).and(answer(content));
            let asked = asked.and(probe::message("user", probe::USER_AGAIN));
            let asked = asked.and(answer(probe::CONTENT));
            let asked = asked.and(probe::message("user", probe::USER));
            let full = self.prompt(&asked).ok()?;
            let (answered, _) = full.rsplit_once(probe::USER_AGAIN)?;
            Some(answered.to_owned())
        };
        self.cutting
            .get_or_init(|| cutting::read(&self.pieces, self.constants(), &answered))
    }

    fn inputs<'c>(&self, context: &'c Context, add_generation_prompt: bool) -> Inputs<'c> {
        Inputs {
            messages: &context.history,
            tools: context.tools.as_deref(),
            documents: None,
            add_generation_prompt,
            kwargs: &context.kwargs,
            clock: self.clock,
            rules: self.requirements.rules,
            printed_tools: None,
        }
    }

    fn render(
        &self,
        context: &Context,
        add_generation_prompt: bool,
    ) -> Result<String, RenderError> {
        self.cache
            .get_or_render(context, add_generation_prompt, || {
                let rendered = match self.varying.is_nothing() {
                    true => self.render_wanting(&self.requirements, context, add_generation_prompt),
                    false => {
                        let inputs = self.inputs(context, add_generation_prompt);
                        self.render_traced(&inputs).map(|traced| traced.text)
                    }
                };
                rendered.map(|full| self.without_quotes(full))
            })
    }

    /// Returns the render with the texts that are written as JSON as they are, since only the text around them is read.
    fn without_quotes(&self, mut render: String) -> String {
        for text in &self.json_texts {
            render = render.replace(&json::quote(text), text);
        }
        render
    }

    /// Returns true if the template writes a text as JSON: quotes, backslashes and line feeds in it are escaped as JSON escapes them. `message`
    /// makes the message with the text.
    pub(in crate::derive) fn writes_as_json(
        &self,
        dialect: &Dialect,
        message: &dyn Fn(&str) -> Assistant,
        text: &str,
    ) -> bool {
        let signs = format!("{text} \"x\" \\ y\nz {text}");
        [false, true].into_iter().any(|tools| {
            let context = self.user(tools).and(dialect.write(&message(&signs)));
            let full = self.render_wanting(&self.requirements, &context, false);
            full.is_ok_and(|full| full.contains(&json::quote(&signs)) && !full.contains(&signs))
        })
    }

    /// Finds out which texts the template writes as JSON.
    pub(in crate::derive) fn read_quotes(&mut self) {
        let standard = Dialect::standard();
        let mut found = Vec::new();
        if self.writes_as_json(&standard, &Assistant::saying, probe::CONTENT) {
            found.extend([probe::CONTENT, probe::OTHER_CONTENT]);
        }
        let is_thought = self.slots.first().is_some_and(|slot| {
            let dialect = Dialect {
                reasoning: Some(slot.clone()),
                ..standard.clone()
            };
            let thinking = |text: &str| Assistant::saying(probe::CONTENT).thinking(text);
            self.writes_as_json(&dialect, &thinking, probe::REASONING)
        });
        if is_thought {
            found.push(probe::REASONING);
        }
        if !found.is_empty() {
            self.json_texts = found;
            self.added = RefCell::default();
            self.cache = RenderCache::default();
        }
    }

    /// The render of a context as it is, with the quotes of texts that are written as JSON.
    pub(in crate::derive) fn raw(&self, context: &Context) -> Result<String, RenderError> {
        match self.json_texts.is_empty() && self.varying.is_nothing() {
            // The analysis renders the same conversation, so that it is taken from the cache.
            true => self.render(context, false),
            false => self.render_wanting(&self.requirements, context, false),
        }
    }

    /// Renders under other requirements than those that the template was found to have.
    pub(in crate::derive) fn render_wanting(
        &self,
        requirements: &Requirements,
        context: &Context,
        add_generation_prompt: bool,
    ) -> Result<String, RenderError> {
        let rules = requirements.rules;
        let tools = context.tools.as_ref();
        let tools = tools.filter(|_| rules == self.requirements.rules);
        let printed = tools.map(|tools| self.printed.of(tools, rules));
        let inputs = Inputs {
            printed_tools: printed.as_deref(),
            ..self.inputs(context, add_generation_prompt)
        };
        self.spend(requirements, &inputs, ChatTemplate::render_borrowed)
    }

    /// Renders the inputs with the template that they ask for, and charges the steps to the account of all renders.
    fn spend<T>(
        &self,
        requirements: &Requirements,
        inputs: &Inputs<'_>,
        render: impl FnOnce(&ChatTemplate, &Inputs<'_>, &mut u64) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let template = self
            .source
            .select(inputs.tools.is_some())
            .map_err(|error| RenderError::Raised {
                message: error.to_string(),
            })?;
        let met = requirements.meet(inputs);
        // What is required changes messages and variables, and never the tools.
        let inputs = met.as_ref().map_or(*inputs, |met| Inputs {
            printed_tools: inputs.printed_tools,
            ..met.borrowed()
        });
        let mut steps = self.steps.get().min(chat_template::MAX_STEPS);
        let before = steps;
        let started = Instant::now();
        let rendered = render(template, &inputs, &mut steps);
        let (count, took) = self.rendered.get();
        self.rendered.set((count + 1, took + started.elapsed()));
        self.steps.set(self.steps.get() - (before - steps));
        rendered
    }

    /// Returns how many renders were made so far, and how long they took.
    pub(in crate::derive) fn rendered(&self) -> (usize, Duration) {
        self.rendered.get()
    }

    /// The account of steps.
    pub(in crate::derive) fn steps(&self) -> Rc<Cell<u64>> {
        self.steps.clone()
    }

    /// The steps that renders may still take.
    pub(in crate::derive) fn steps_left(&self) -> u64 {
        self.steps.get()
    }

    /// Returns true if the renders have used up their steps, so that nothing more can be found out.
    pub(in crate::derive) fn is_exhausted(&self) -> bool {
        self.steps.get() == 0
    }
}

/// Returns the text without `end`, if it ends with that.
fn without(mut text: String, end: Option<&str>) -> String {
    if let Some(rest) = end.and_then(|end| text.strip_suffix(end)) {
        text.truncate(rest.len());
    }
    text
}

/// Returns the text behind the last words of the user.
fn after_user(render: &str) -> String {
    render
        .rfind(probe::USER)
        .map_or(render, |at| &render[at + probe::USER.len()..])
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn what_was_just_rendered_is_not_rendered_again() {
        let text =
            "{% for m in messages %}{% for k in m %}{{ k }} {{ m[k] }} {% endfor %}{% endfor %}";
        let source = chat_template::from_text("test", text).unwrap();
        let renderer = super::super::open(&source, None).unwrap();
        let message = |text: &str| json::parse(text).unwrap();
        let context = renderer.user(false);
        let first = message(r#"{"role": "assistant", "content": 0.0}"#);
        let turn = renderer.turn(&context, &first).unwrap();
        let (count, _) = renderer.rendered();
        assert_eq!(renderer.turn(&context, &first).unwrap(), turn);
        assert_eq!(renderer.rendered().0, count);
        for other in [
            r#"{"content": 0.0, "role": "assistant"}"#,
            r#"{"role": "assistant", "content": -0.0}"#,
            r#"{"role": "assistant", "content": 0}"#,
        ] {
            let (count, _) = renderer.rendered();
            assert_ne!(renderer.turn(&context, &message(other)).unwrap(), turn);
            assert_eq!(renderer.rendered().0, count + 1, "the prompt is known");
        }
    }
}
