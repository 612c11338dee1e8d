//! Chat templates: loading them, rendering them as transformers renders them, and seeing what they read.
//!
//! [`load`] finds the templates of a model on disk, [`ChatTemplate`] is one of them, compiled. A render gives what
//! `apply_chat_template(tokenize=False)` of transformers 5.23 gives, byte for byte, and fails where that raises: lexer and
//! parser are minijinja's, the walk over the tree is our own, with Python's values and Jinja2's rules. Message keys that
//! hold `null` are dropped first, and reasoning is given under every name that transformers gives it. [`Rules`] has what other
//! renderers do differently. A render can be told with the origin of every character: [`ChatTemplate::render_traced`].
//!
//! # Limits
//!
//! A template is untrusted. One render may take 20 million steps (an expression or statement is one, and so are sixteen
//! bytes of a new string), print 64 MiB, make values of 64 MiB, and nest 400 levels; kept values may nest 500 levels deep,
//! inputs 400. A source may have 4 MiB, 150 levels of nesting, and 1000 operators in one tag. Beyond that there is a
//! [`RenderError::Limit`] or a [`TemplateError`] with the code `chat-template-limit`.
//!
//! # What is not there
//!
//! Each of these is an error rather than another text: the filters `filesizeformat`, `groupby`, `pprint`, `random`,
//! `striptags`, `urlize`, `wordwrap` and `xmlattr`; `{% autoescape true %}`; a tuple without parentheses anywhere but in
//! `set`; unary plus; a call right behind a filter (`x|f()()`); names outside ASCII; `\N{...}` in strings;
//! integers beyond 128 bits in arithmetic; `str.encode` and `str.translate`; `lipsum`; with [`Rules::list_methods`] a list or
//! dictionary that comes to hold itself. Methods and generators that are printed show no address. Where lists can be changed,
//! the one list in `[[]] * 3` is held three times, as in Python; Jinja makes three of it when all of it is constant.

mod clock;
mod error;
#[cfg(test)]
mod filter_tests;
mod gguf;
mod layout;
#[cfg(test)]
mod loading_tests;
mod origins;
#[cfg(test)]
mod origins_tests;
mod reads;
mod rules;
mod run;
mod shapes;
mod source;
mod survey;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::Arc;

use crate::value::{Map, Value};

pub use clock::Clock;
pub(crate) use clock::{MONTHS, WEEKDAYS};
pub use error::{Limit, LoadError, RenderError, TemplateError};
pub(crate) use layout::{Layout, Turn, message_of};
pub use origins::{InputPath, InputStep, Origin, Run, Traced};
pub use reads::{Read, Reads};
pub use rules::Rules;
pub(crate) use run::{PrintedLists, PrintedTools};
pub(crate) use shapes::ANY_TEXT;
pub(crate) use source::DOCUMENTS;
pub use source::{ChatTemplateSource, from_config, from_text, load};
pub(crate) use syntax::tags::{Kind as TagKind, Tag, tags};
pub use tokens::TokenLists;

/// The steps that one render may take: an expression or statement is one, and so are sixteen bytes of a new string.
pub const MAX_STEPS: u64 = 20_000_000;

/// The names of a reasoning among a message's keys that transformers knows: under whichever it comes, it is handed on under
/// the first two, and the first that holds something counts.
pub(crate) const REASONING_KEYS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// One chat template, compiled. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    inner: Arc<Compiled>,
    tokens: Arc<Map>,
}

#[derive(Debug)]
struct Compiled {
    source: String,
    tree: syntax::tree::Tree,
    constants: Vec<String>,
    sought: Vec<String>,
    /// Those, and the constants that anything is compared with or a name is set to.
    asked: Vec<String>,
    variables: Vec<String>,
    candidates: Vec<(String, Vec<Value>)>,
    shapes: Vec<(String, shapes::Shape)>,
    own: Vec<String>,
}

/// The input with which a chat template is rendered: [`RenderInput::new`], and what else is to be set.
///
/// ```
/// use obverse::chat_template::{ChatTemplate, RenderInput};
///
/// let template = ChatTemplate::new("{% if add_generation_prompt %}[assistant]{% endif %}")?;
/// let mut input = RenderInput::new(Vec::new());
/// input.add_generation_prompt = true;
/// assert_eq!(template.render(&input)?, "[assistant]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RenderInput {
    /// The conversation.
    pub messages: Vec<Value>,
    /// The tools' JSON schemas; the template sees `none` where there are none.
    pub tools: Option<Vec<Value>>,
    /// Documents for retrieval; the template sees `none` where there are none.
    pub documents: Option<Vec<Value>>,
    /// True if the prompt ends where the model's turn begins.
    pub add_generation_prompt: bool,
    /// Further variables, such as `enable_thinking`. They win over the special tokens.
    pub kwargs: Map,
    /// The time that `strftime_now` prints; the system's, in UTC, when there is none.
    pub clock: Option<Clock>,
    /// Where renderers differ, the rules to render by: those of transformers 5.23 unless told otherwise.
    pub rules: Rules,
}

/// A [`RenderInput`] that borrows, for those who render many variants of one conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) messages: &'a [Value],
    pub(crate) tools: Option<&'a [Value]>,
    pub(crate) documents: Option<&'a [Value]>,
    pub(crate) add_generation_prompt: bool,
    pub(crate) kwargs: &'a Map,
    pub(crate) clock: Option<Clock>,
    pub(crate) rules: Rules,
    /// The texts that this chat template printed of these very tools before, by the same rules, where they are remembered.
    pub(crate) printed_tools: Option<&'a PrintedTools>,
}

impl Inputs<'_> {
    pub(crate) fn to_input(self) -> RenderInput {
        RenderInput {
            messages: self.messages.to_vec(),
            tools: self.tools.map(<[Value]>::to_vec),
            documents: self.documents.map(<[Value]>::to_vec),
            add_generation_prompt: self.add_generation_prompt,
            kwargs: self.kwargs.clone(),
            clock: self.clock,
            rules: self.rules,
        }
    }
}

impl RenderInput {
    /// The input of a conversation, with nothing else set.
    pub fn new(messages: Vec<Value>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    pub(crate) fn borrowed(&self) -> Inputs<'_> {
        Inputs {
            messages: &self.messages,
            tools: self.tools.as_deref(),
            documents: self.documents.as_deref(),
            add_generation_prompt: self.add_generation_prompt,
            kwargs: &self.kwargs,
            clock: self.clock,
            rules: self.rules,
            printed_tools: None,
        }
    }
}

impl ChatTemplate {
    /// Compiles a template's source.
    ///
    /// # Errors
    ///
    /// When the source is not a template; the diagnostic has the place in bytes.
    pub fn new(source: &str) -> Result<Self, TemplateError> {
        let tree = syntax::parse(source)?;
        let survey = survey::Survey::of(&tree);
        Ok(Self {
            inner: Arc::new(Compiled {
                source: source.to_owned(),
                tree,
                constants: survey.constants,
                sought: survey.sought,
                asked: survey.asked,
                variables: survey.variables,
                candidates: survey.candidates,
                shapes: survey.shapes,
                own: survey.own,
            }),
            tokens: Arc::default(),
        })
    }

    /// The template with special tokens, which it sees as variables: `bos_token`, `eos_token`, ...
    #[must_use]
    pub fn with_special_tokens(self, tokens: Map) -> Self {
        Self {
            tokens: Arc::new(tokens),
            ..self
        }
    }

    /// The special tokens.
    pub fn special_tokens(&self) -> &Map {
        &self.tokens
    }

    /// The source as it was given.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// Every string constant of the syntax tree, raw text between tags included, in source order without repetitions.
    pub fn constants(&self) -> &[String] {
        &self.inner.constants
    }

    /// The constants that texts are searched for, or cut at, in source order without repetitions.
    pub fn sought(&self) -> &[String] {
        &self.inner.sought
    }

    /// The constants that texts are searched for, or cut at, and those that anything is compared with or a name is set to, in source order
    /// without repetitions.
    pub(crate) fn asked(&self) -> &[String] {
        &self.inner.asked
    }

    /// The top-level variables that the template reads without having set them, in source order.
    pub fn variables(&self) -> &[String] {
        &self.inner.variables
    }

    /// For a top-level variable, the values that the template compares it with or tests it for, in source order:
    /// values worth trying. Empty for one that it only prints.
    pub fn candidates(&self, variable: &str) -> &[Value] {
        self.inner
            .candidates
            .iter()
            .find(|(name, _)| name == variable)
            .map_or(&[], |(_, values)| values.as_slice())
    }

    /// For a top-level variable, the objects and lists that have what the template asks of it. Empty for one of which it asks nothing.
    pub(crate) fn shaped(&self, variable: &str) -> Vec<Value> {
        let mut shapes = self.inner.shapes.iter();
        let shape = shapes.find(|(name, _)| name == variable);
        shape.map_or_else(Vec::new, |(_, shape)| shape.values())
    }

    /// Returns true if the template sets the variable to something of the conversation, so that it is not meant to be given although it is read where it
    /// was not set.
    pub(crate) fn sets(&self, variable: &str) -> bool {
        self.inner.own.iter().any(|own| own == variable)
    }

    /// Renders a conversation, as `apply_chat_template(tokenize=False)` does.
    ///
    /// # Errors
    ///
    /// When the template refuses the input, does something that Python does not allow, or runs into a limit.
    pub fn render(&self, input: &RenderInput) -> Result<String, RenderError> {
        let mut steps = MAX_STEPS;
        self.render_within(input, &mut steps)
    }

    /// Renders with no more steps than `steps` has, from which those that were taken are subtracted: for whoever renders
    /// often and wants a limit on all of it.
    ///
    /// # Errors
    ///
    /// As [`render`](Self::render).
    pub fn render_within(
        &self,
        input: &RenderInput,
        steps: &mut u64,
    ) -> Result<String, RenderError> {
        self.render_borrowed(&input.borrowed(), steps)
    }

    pub(crate) fn render_borrowed(
        &self,
        inputs: &Inputs<'_>,
        steps: &mut u64,
    ) -> Result<String, RenderError> {
        run::render(&self.inner.tree, &self.tokens, inputs, false, steps).map(|(text, _)| text)
    }

    /// Renders, and gives what the template asked of its input on the way, too.
    ///
    /// # Errors
    ///
    /// As [`render`](Self::render).
    pub fn render_observed(&self, input: &RenderInput) -> Result<(String, Reads), RenderError> {
        let mut steps = MAX_STEPS;
        self.render_borrowed_observed(&input.borrowed(), &mut steps)
    }

    /// [`render_observed`](Self::render_observed) with no more steps than `steps` has.
    pub(crate) fn render_borrowed_observed(
        &self,
        inputs: &Inputs<'_>,
        steps: &mut u64,
    ) -> Result<(String, Reads), RenderError> {
        run::render(&self.inner.tree, &self.tokens, inputs, true, steps)
    }

    /// Returns the inputs that the template asks for: all of them, or those before the error that ends the render.
    pub(crate) fn reads_of(&self, inputs: &Inputs<'_>, steps: &mut u64) -> Reads {
        run::reads(&self.inner.tree, &self.tokens, inputs, steps)
    }

    /// Renders as [`render`](Self::render) does, with the origin of every byte and the inputs that control flow read.
    ///
    /// # Errors
    ///
    /// As [`render`](Self::render), and when there is more to tell of origins than a render may: more than four million
    /// inputs and combinations of them, or more than a million paths beside the first of each run.
    pub fn render_traced(&self, input: &RenderInput) -> Result<Traced, RenderError> {
        let mut steps = MAX_STEPS;
        self.render_borrowed_traced(&input.borrowed(), &mut steps)
    }

    /// [`render_traced`](Self::render_traced) with no more steps than `steps` has.
    pub(crate) fn render_borrowed_traced(
        &self,
        inputs: &Inputs<'_>,
        steps: &mut u64,
    ) -> Result<Traced, RenderError> {
        self.render_borrowed_traced_behind(inputs, 0, steps)
    }

    /// As [`render_borrowed_traced`](Self::render_borrowed_traced), with the origins of the bytes behind `start` alone: the first run may
    /// begin before it, and of what stands before that none is told. With a `start` other than 0, the inputs that control flow read are not
    /// told either.
    pub(crate) fn render_borrowed_traced_behind(
        &self,
        inputs: &Inputs<'_>,
        start: usize,
        steps: &mut u64,
    ) -> Result<Traced, RenderError> {
        let told = run::Told::Behind(start);
        run::render_traced(&self.inner.tree, &self.tokens, inputs, told, steps)
            .map(|(traced, _)| traced)
    }

    /// Renders with the origin of every byte, and with who wrote what.
    pub(crate) fn render_laid_out(
        &self,
        inputs: &Inputs<'_>,
        steps: &mut u64,
    ) -> Result<(Traced, Layout), RenderError> {
        let told = run::Told::Layout;
        run::render_traced(&self.inner.tree, &self.tokens, inputs, told, steps)
    }

    /// The place in the source that writes the bytes `part` of a constant's value, of which [`Origin::Source`] says that the
    /// bytes `from` are written at `whole`.
    pub(crate) fn place_of_part(
        &self,
        whole: (usize, usize),
        from: (usize, usize),
        part: (usize, usize),
    ) -> Option<(usize, usize)> {
        let mut places = self.inner.tree.places.iter();
        let places = places.find(|places| places.source(from) == whole)?;
        Some(places.source(part))
    }
}
