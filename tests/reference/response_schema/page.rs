//! The table of `docs/response-schemas.md`: every schema at hand, whether it runs as by the reference, and whether it converts.

use obverse::convert::{self, Difference, SampleOrigin, Verdict};
use obverse::response_schema::ResponseSchema;
use obverse::value::{Value, json};

use super::compare::{self, Pair};
use super::written;
use crate::support::random::Random;
use crate::support::reference::schema_python;

const PAGE: &str = "docs/response-schemas.md";
const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end -->\n";

#[test]
#[ignore = "a minute; `.ci/run` runs it"]
fn the_table_of_the_page_is_up_to_date() {
    if schema_python().is_none() {
        return;
    }
    let mut table = String::from(
        "| schema | responses | differ from 5.14.1 | converted | agree | why not, or the smallest difference |\n|---|---:|---:|---|---|---|\n",
    );
    let mut schemas = written::schemas();
    schemas.extend(written::public());
    for (name, schema) in &schemas {
        table.push_str(&row(name, schema));
    }
    let written = std::fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = written.split_once(BEGIN).expect("the table's beginning");
    let (_, after) = rest.split_once(END).expect("the table's end");
    let page = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(PAGE, &page).expect("written");
        return;
    }
    assert!(
        page == written,
        "{PAGE} is stale; run `OBVERSE_UPDATE=1 cargo test --test reference response_schema::page -- --ignored` and read the difference:\n{table}"
    );
}

fn row(name: &str, schema: &Value) -> String {
    let mut random = Random::new(18);
    let texts = written::RESPONSES.iter().map(|text| (*text).to_owned());
    let mixed: Vec<String> = (0..200).map(|_| written::mixed(&mut random)).collect();
    let pairs: Vec<Pair> = texts
        .chain(mixed)
        .map(|text| Pair {
            schema: schema.clone(),
            text,
            broken: false,
        })
        .collect();
    // Where one differs this fails, so that the number is what was found.
    compare::compare(&pairs).expect("the reference is there");
    let compiled = ResponseSchema::from_value(schema).expect("a schema");
    let conversion = convert::to_template(&compiled, None, &[]);
    let report = &conversion.report;
    let verdict = match report.verdict {
        Verdict::Proved => "proved",
        Verdict::ProvedInPart => "proved in part",
        Verdict::Inexpressible => "inexpressible",
        _ => "not proved",
    };
    let counted = report
        .samples
        .iter()
        .filter(|tally| tally.origin != SampleOrigin::Beyond);
    let (tried, agree) = counted.fold((0, 0), |(tried, agree), tally| {
        (tried + tally.tried, agree + tally.agree)
    });
    let why: Vec<String> = report
        .findings
        .iter()
        .map(|finding| format!("{} (`{}`)", finding.message, finding.path))
        .chain(
            report
                .differences
                .first()
                .filter(|found| found.origin != SampleOrigin::Beyond)
                .map(shown),
        )
        .collect();
    let name = match name.split_once(": ") {
        Some(_) => name.to_owned(),
        None => format!("[{name}](../tests/cases/response_schema/{name}.json)"),
    };
    format!(
        "| {name} | {} | 0 | {verdict} | {agree} of {tried} | {} |\n",
        pairs.len(),
        why.join("; ")
    )
}

fn shown(difference: &Difference) -> String {
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|").replace('`', "'"));
    format!(
        "{} is {} to the schema and {} to the response template",
        code(&json::quote(&difference.response)),
        code(&difference.schema),
        code(&difference.template)
    )
}
