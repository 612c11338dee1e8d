//! `obverse debug --html`: what the debugger would show, as a page.

use obverse::chunking::Chunking;
use obverse::page::{Page, PageSample};
use obverse::tui::{Sample, Setup};

/// The page about what the debugger was to be started on.
pub(super) fn page(title: &str, setup: &Setup) -> String {
    let sample = |sample: &Sample| {
        let made = PageSample::new(sample.name.as_str(), sample.response.as_str());
        let expected = sample.expected.as_ref();
        made.given(sample.prefix.as_str(), &sample.tools, expected)
    };
    let report = setup.derivation.as_ref().and_then(|derivation| {
        // Texts and lists alone: nothing in it fails to serialize.
        serde_json::to_value(derivation.to_value()).ok()
    });
    let samples = setup.samples.iter().map(sample).collect();
    let mut page = Page::of_template(title, setup.template.text(), report, samples);
    page.record(setup.options, &|index, _| {
        ends(&setup.samples[index], &setup.chunking)
    });
    page.to_html()
}

fn ends(sample: &Sample, chunking: &Chunking) -> Vec<usize> {
    sample.ends(chunking).0
}
