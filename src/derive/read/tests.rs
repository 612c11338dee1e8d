//! Tests of the reading, each over chat templates that are small enough to see what must be read of them.

mod anchors;
mod calls;
mod reasonings;

use super::analysis::{self, Analysis, Unreadable};
use crate::chat_template::{self, ChatTemplateSource};
use crate::derive::choice::Preference;
use crate::derive::render;
use crate::judge::{Judge, Setup};
use crate::value::Value;

/// The analysis of a chat template where every decision takes its first candidate.
fn analysis(template: &str) -> Result<Analysis, Unreadable> {
    analysis_with(template, Vec::new())
}

/// The analysis of a chat template where these decisions take other candidates than the first.
fn analysis_with(template: &str, wanted: Vec<Preference>) -> Result<Analysis, Unreadable> {
    let source = chat_template::from_text("it", template).unwrap();
    analysis_of(&source, wanted)
}

/// The analysis of this source.
fn analysis_of(
    source: &ChatTemplateSource,
    wanted: Vec<Preference>,
) -> Result<Analysis, Unreadable> {
    let mut renderer = render::open(source, None).unwrap();
    let (requirements, steps) = (renderer.requirements.clone(), renderer.steps());
    let variables = |tools: &[Value]| requirements.given(tools);
    let setup = Setup {
        clock: None,
        steps: &steps,
        parts: requirements.parts,
        opening: requirements.opening,
        variables: &variables,
        thorough: false,
        extent: crate::judge::Extent::ALL,
    };
    let judge = Judge::new(source, &setup);
    renderer.adopt(judge.rules());
    renderer.know(&judge.traced());
    renderer.slots = judge.slots().to_vec();
    renderer.read_quotes();
    renderer.begin(wanted);
    analysis::analyse(&renderer)
}

/// The analysis of turns that are written so: `answer` is the Jinja source of an answer, `prompt` that of the prompt.
fn read(answer: &str, prompt: &str) -> Analysis {
    analysis(&turns(answer, prompt)).unwrap()
}

/// A chat template whose turns are written so.
fn turns(answer: &str, prompt: &str) -> String {
    format!(
        "{{%- if tools -%}}<tools>{{{{ tools | tojson }}}}<end>{{%- endif -%}}\
         {{%- for m in messages -%}}{{%- if m.role == 'assistant' -%}}{answer}\
         {{%- else -%}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{%- endif -%}}{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}{prompt}{{%- endif -%}}"
    )
}
