//! Derivations of real chat templates: from each marker to its place in a response, and back.

use std::path::{Path, PathBuf};

use obverse::chat_template;
use obverse::derive::{self, Options};
use obverse::tui::{Derivation, Sample, Setup, Template};

use crate::bench::{Bench, open, press, screen, status, title};
use crate::corpus;

/// A debugger on a chat template, or `None` where nothing can be derived from it.
fn derived(path: &Path) -> Option<(Bench, Derivation)> {
    let source = chat_template::load(path).ok()?.assuming_tokens();
    let found = derive::derive(&source, &Options::default()).ok()?;
    let template = Template::load(&found.document.to_json(), None).expect("a response template");
    let cases = found.cases.iter().enumerate();
    let samples: Vec<Sample> = cases
        .map(|(number, case)| Sample::of_case(number + 1, case))
        .collect();
    let derivation = Derivation::of_report(&found.report);
    let setup = Setup {
        derivation: Some(derivation.clone()),
        ..Setup::new(template, samples)
    };
    Some((open(setup), derivation))
}

/// From each marker to a place, and from the place to a marker; returns how many were found.
fn there_and_back(name: &str, bench: &mut Bench, derivation: &Derivation) -> usize {
    let mut found = 0;
    for row in 0..derivation.markers.len() {
        press(
            bench,
            &format!("6{}{}", "<up>".repeat(99), "<down>".repeat(row)),
        );
        let marker = derivation.markers[row].text.trim();
        press(bench, "<enter>");
        let told = status(bench);
        if told.contains("the marker is") {
            continue;
        }
        found += 1;
        press(bench, "1");
        assert!(!title(bench).contains("byte 0/"), "{name}: {marker:?}");
        press(bench, "m");
        let shown = screen(bench);
        assert!(
            shown.contains("▶6 Derivation") || shown.contains("no marker stands"),
            "{name}: {marker:?}\n{shown}"
        );
    }
    found
}

#[test]
fn markers_lead_to_their_places_and_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates");
    for name in ["qwen3.jinja", "gpt_oss.jinja", "glm4_6.jinja"] {
        let (mut bench, derivation) = derived(&folder.join(name)).expect("a derivation");
        let found = there_and_back(name, &mut bench, &derivation);
        assert!(
            found >= 3,
            "{name}: {found} of {}",
            derivation.markers.len()
        );
        // The pane names what the response template comes from.
        assert!(title(&mut bench).contains("from "), "{}", title(&mut bench));
    }
}

/// Of one chat template in so many; in two parts, which run side by side.
const STEP: usize = 24;

#[test]
fn the_markers_of_real_chat_templates_are_found() {
    real(corpus::templates().into_iter().step_by(STEP));
}

#[test]
fn the_markers_of_other_real_chat_templates_are_found() {
    real(corpus::templates().into_iter().skip(STEP / 2).step_by(STEP));
}

#[test]
#[ignore = "a minute; `.ci/run` runs it"]
fn the_markers_of_all_real_chat_templates_are_found() {
    real(corpus::templates().into_iter());
}

fn real(templates: impl Iterator<Item = (String, PathBuf)>) {
    for (name, path) in templates {
        if let Some((mut bench, derivation)) = derived(&path) {
            let found = there_and_back(&name, &mut bench, &derivation);
            assert!(found > 0 || derivation.markers.is_empty(), "{name}");
        }
    }
}
