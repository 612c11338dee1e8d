//! Reports: one stream of results, and one file for each format that writes it.
//!
//! A verb makes an [`Outcome`] of each thing that it looked at (a file that was linted, a fixture that was checked) and hands
//! it to a [`Reporter`] as soon as it is there; at the end it hands over the [`Summary`]. What a format cannot write piece by
//! piece it keeps until then.

mod concise;
mod github;
mod human;
mod json;
mod junit;
mod markdown;
mod place;
mod sarif;
mod to_file;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use obverse::check::FixtureFile;
use obverse::diagnostic::{Diagnostic, Severity};

use super::problem::Problem;
use super::replace::{refuse, refuse_source, replace};
use super::status::Status;
use super::stop::Stop;
use super::verbosity::{self, Verbosity};
use super::{input, output, width};
use to_file::ToFile;

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Blocks with the place in the file, for people.
    Human,
    /// One line for each finding: file, line, column, severity, code, message.
    Concise,
    /// One JSON document.
    Json,
    /// One JSON object a line: each result as soon as it is there, and last a summary.
    Jsonl,
    /// Workflow commands, which GitHub shows beside the lines of a pull request.
    Github,
    /// JUnit XML: one test case for each result.
    Junit,
    /// Markdown, as for the summary of a workflow's step.
    Markdown,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

/// The outcome of one thing that was looked at.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Its name: the file's path, as it was given, and for a line of a `.jsonl` file its number and name.
    pub(crate) name: String,
    /// The file that the diagnostics speak of.
    pub(crate) file: String,
    /// The line of the file of which the text is only a part, if it is.
    pub(crate) line: Option<usize>,
    /// The text into which the places of the diagnostics point.
    pub(crate) text: String,
    /// The findings.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How many findings were allowed, and are not among them.
    pub(crate) allowed: usize,
}

impl Outcome {
    /// The outcome of a file that could not be read.
    pub(crate) fn unread(name: String, problem: Problem) -> Self {
        let document = problem.document;
        Self {
            file: name.clone(),
            name,
            line: None,
            text: document
                .and_then(|document| document.text)
                .unwrap_or_default(),
            diagnostics: problem.diagnostics,
            allowed: 0,
        }
    }

    /// Returns true if anything found is an error.
    pub(crate) fn failed(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// All outcomes, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) results: usize,
    pub(crate) failed: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) infos: usize,
    pub(crate) allowed: usize,
    pub(crate) fixable: usize,
}

impl Summary {
    fn count(&mut self, outcome: &Outcome) {
        self.results += 1;
        self.failed += usize::from(outcome.failed());
        self.allowed += outcome.allowed;
        for diagnostic in &outcome.diagnostics {
            self.fixable += usize::from(diagnostic.fix.is_some());
            match diagnostic.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Info => self.infos += 1,
            }
        }
    }

    /// The status with which the verb ends.
    pub(crate) fn status(&self) -> Status {
        if self.failed > 0 {
            Status::Found
        } else {
            Status::Done
        }
    }
}

/// Writes results in one format.
trait Reporter {
    /// Takes one result.
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what is left.
    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()>;
}

/// A report for people, in a file: colours are for terminals.
struct Unstyled(Box<dyn Reporter>);

impl Unstyled {
    fn write(
        out: &mut dyn Write,
        with: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut styled = Vec::new();
        with(&mut styled)?;
        let styled = String::from_utf8_lossy(&styled);
        write!(out, "{}", anstream::adapter::strip_str(&styled))
    }
}

impl Reporter for Unstyled {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        Self::write(out, |styled| self.0.result(outcome, styled))
    }

    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        Self::write(out, |styled| self.0.finish(summary, styled))
    }
}

/// The stream of results of one run.
pub(crate) struct Report {
    written: Vec<OpenReport>,
    summary: Summary,
}

/// A report in one format.
struct OpenReport {
    reporter: Box<dyn Reporter>,
    out: Out,
    /// True if somebody still reads it. Who has read enough stops neither the work nor the other reports, and changes nothing
    /// about how the verb ends.
    is_read: bool,
}

/// Where a report goes.
enum Out {
    /// Somebody who reads it as it is written: a stream, or a pipe or a device among the files.
    Stream(Box<dyn Write>),
    /// A file, which is written at once and whole when the report ends. Nobody finds half a report in it.
    File(PathBuf, Vec<u8>),
    /// A terminal, which is shown all of it when the report ends: in a pager where it is long.
    Screen(Vec<u8>),
}

impl Out {
    /// The file of a report.
    fn file(path: &Path) -> Result<Self, Problem> {
        let unwritable = |error: &io::Error| {
            let message = format!("cannot write {}: {error}", input::name(path));
            Problem::failed("unwritable", message)
        };
        let is_stream = path.starts_with("/dev")
            || fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        if is_stream {
            let file = File::create(path).map_err(|error| unwritable(&error))?;
            return Ok(Self::Stream(Box::new(BufWriter::new(file))));
        }
        // What cannot be written is told before the work, not after it.
        refuse(path)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(unwritable(&io::ErrorKind::IsADirectory.into()));
        }
        fs::metadata(folder).map_err(|error| unwritable(&error))?;
        Ok(Self::File(path.to_owned(), Vec::new()))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stream(stream) => stream,
            Self::File(_, text) | Self::Screen(text) => text,
        }
    }
}

impl OpenReport {
    fn write(
        &mut self,
        with: impl FnOnce(&mut dyn Reporter, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.is_read {
            return Ok(());
        }
        match with(self.reporter.as_mut(), self.out.writer()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_read = false;
                Ok(())
            }
            done => done,
        }
    }
}

impl Report {
    /// A report on standard output, and those that are to be written into files. `verb` is what makes the results, such as `lint`.
    pub(crate) fn open(args: &FormatArgs, verb: &'static str) -> Result<Self, Problem> {
        let is_verbose = verbosity::chosen() == Verbosity::Verbose;
        let out = match args.format {
            // Between details, which are told as they come, results stand where they belong.
            Format::Human if output::is_result_on_screen() && !is_verbose => {
                Out::Screen(Vec::new())
            }
            Format::Human => Out::Stream(Box::new(anstream::stdout())),
            _ => Out::Stream(Box::new(output::results())),
        };
        let mut written = vec![OpenReport {
            reporter: args.format.reporter(verb, width::of_results(), !is_verbose),
            out,
            is_read: true,
        }];
        for ToFile { format, path } in &args.write {
            let out = Out::file(path)?;
            let mut reporter = format.reporter(verb, None, false);
            if *format == Format::Human {
                reporter = Box::new(Unstyled(reporter));
            }
            written.push(OpenReport {
                reporter,
                out,
                is_read: true,
            });
        }
        Ok(Self {
            written,
            summary: Summary::default(),
        })
    }

    /// Shows results as soon as they are there even on a terminal, for somebody who watches.
    pub(crate) fn shown_at_once(mut self) -> Self {
        for written in &mut self.written {
            if matches!(written.out, Out::Screen(_)) {
                written.out = Out::Stream(Box::new(anstream::stdout()));
            }
        }
        self
    }

    /// Fails if one of the files that are written is one that is read.
    pub(crate) fn spare(&self, read: &Path) -> Result<(), Problem> {
        for written in &self.written {
            if let Out::File(path, _) = &written.out {
                refuse_source(path, read)?;
            }
        }
        Ok(())
    }

    /// Fails if one of the files that are written is one of a fixture.
    pub(crate) fn spare_fixture(&self, found: &FixtureFile) -> Result<(), Problem> {
        if found.line.is_some() {
            return self.spare(&found.path);
        }
        for written in &self.written {
            if let Out::File(path, _) = &written.out
                && path.is_file()
                && let Some(name) = path.file_name()
            {
                refuse_source(path, &found.path.join(name))?;
            }
        }
        Ok(())
    }

    /// Reports one result.
    pub(crate) fn result(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.summary.count(outcome);
        self.written
            .iter_mut()
            .try_for_each(|written| written.write(|reporter, out| reporter.result(outcome, out)))
    }

    /// Ends the report.
    pub(crate) fn finish(mut self) -> Result<Summary, Stop> {
        for written in &mut self.written {
            if matches!(written.out, Out::Stream(_)) {
                output::begin();
            }
            written.write(|reporter, out| {
                reporter.finish(&self.summary, out)?;
                out.flush()
            })?;
            match &written.out {
                Out::Stream(_) => {}
                Out::File(path, text) => replace(path, &String::from_utf8_lossy(text))?,
                Out::Screen(text) => output::print_long(&String::from_utf8_lossy(text))?,
            }
        }
        Ok(self.summary)
    }
}

impl Format {
    /// The reporter of a format. Where it `folds`, results that say the same are counted from some on.
    fn reporter(
        self,
        verb: &'static str,
        columns: Option<usize>,
        folds: bool,
    ) -> Box<dyn Reporter> {
        let of = if verb == "check" { "case" } else { "file" };
        match self {
            Self::Human => {
                let folded = folds.then(Vec::new);
                Box::new(human::Human {
                    of,
                    columns,
                    folded,
                })
            }
            Self::Concise => Box::new(concise::Concise),
            Self::Json => Box::new(json::Json::default()),
            Self::Jsonl => Box::new(json::Lines),
            Self::Github => Box::new(github::Github),
            Self::Junit => Box::new(junit::Junit::new(verb)),
            Self::Markdown => Box::new(markdown::Markdown::new(verb, of)),
            Self::Sarif => Box::new(sarif::Sarif::default()),
        }
    }
}

/// How the results of a run are written.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FormatArgs {
    /// How to write the results: human, concise, json, jsonl, github, junit, markdown or sarif
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Human)]
    #[arg(hide_possible_values = true)]
    pub(crate) format: Format,

    /// Write the results into a file too, in another format
    #[arg(long, value_name = "FORMAT=FILE", value_parser = to_file::read)]
    write: Vec<ToFile>,
}

/// The severity's name.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two results, one of them with two findings, in a format.
    fn report(mut reporter: impl Reporter) -> String {
        let text = "{\n  \"é\": \"x\u{1b}\",\n  \"b\": 1\n}\n".to_owned();
        let bad = Outcome {
            name: "dir/a,b.json".to_owned(),
            file: "dir/a,b.json".to_owned(),
            line: None,
            diagnostics: vec![
                Diagnostic::error("bad-pattern", "it is % bad:\nvery \u{1b}[31m")
                    .with_path("$.b")
                    .with_span(text.find("\"b\"").map_or(0..0, |at| at..at + 3))
                    .with_hint("mend it"),
                Diagnostic::warning("dollar", "not <good>"),
            ],
            text,
            allowed: 1,
        };
        let good = Outcome {
            name: "b.json".to_owned(),
            file: "b.json".to_owned(),
            line: None,
            text: "{}".to_owned(),
            diagnostics: Vec::new(),
            allowed: 0,
        };
        all(&mut reporter, &[bad, good])
    }

    /// A result about a line of a file, in a format.
    fn report_of_line(mut reporter: impl Reporter) -> String {
        let line = Outcome {
            name: "suite.jsonl:7 short".to_owned(),
            file: "suite.jsonl".to_owned(),
            line: Some(7),
            text: "one\ntwo".to_owned(),
            diagnostics: vec![Diagnostic::error("other-message", "no").with_span(4..7)],
            allowed: 0,
        };
        all(&mut reporter, &[line])
    }

    fn all(reporter: &mut dyn Reporter, outcomes: &[Outcome]) -> String {
        let mut out = Vec::new();
        let mut summary = Summary::default();
        for outcome in outcomes {
            summary.count(outcome);
            reporter.result(outcome, &mut out).expect("memory");
        }
        reporter.finish(&summary, &mut out).expect("memory");
        assert_eq!(summary.status(), Status::Found);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_line_of_a_file_is_the_place_of_what_is_found_in_it() {
        insta::assert_snapshot!(report_of_line(concise::Concise), @"suite.jsonl:7: error[other-message] no");
        insta::assert_snapshot!(report_of_line(github::Github), @"::error file=suite.jsonl,line=7,title=other-message::no");
        let human = report_of_line(human::Human {
            of: "case",
            columns: None,
            folded: None,
        });
        assert!(
            human.contains("suite.jsonl:7 short, response:2:1"),
            "{human}"
        );
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        let json = read(&report_of_line(json::Json::default()));
        let result = &json["results"][0];
        assert_eq!(
            (&result["file"], &result["diagnostics"][0]["line"]),
            (&"suite.jsonl".into(), &7.into())
        );
        assert!(result["diagnostics"][0].get("column").is_none(), "{result}");
        let sarif = read(&report_of_line(sarif::Sarif::default()));
        let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "suite.jsonl");
        assert_eq!(place["region"], serde_json::json!({"startLine": 7}));
    }

    #[test]
    fn concise() {
        insta::assert_snapshot!(report(concise::Concise), @r#"
        dir/a,b.json:3:3: error[bad-pattern] it is % bad:\nvery \u{1b}[31m
        dir/a,b.json: warning[dollar] not <good>
        "#);
    }

    #[test]
    fn github() {
        insta::assert_snapshot!(report(github::Github), @r#"
        ::error file=dir/a%2Cb.json,line=3,col=3,endColumn=6,title=bad-pattern::it is %25 bad:%0Avery \u{1b}[31m%0Amend it
        ::warning file=dir/a%2Cb.json,title=dollar::not <good>
        "#);
    }

    #[test]
    fn json() {
        insta::assert_snapshot!(report(json::Json::default()), @r#"
        {
          "results": [
            {
              "name": "dir/a,b.json",
              "file": "dir/a,b.json",
              "status": "failed",
              "diagnostics": [
                {
                  "code": "bad-pattern",
                  "severity": "error",
                  "message": "it is % bad:\nvery \u001b[31m",
                  "path": "$.b",
                  "span": {
                    "start": 18,
                    "end": 21
                  },
                  "line": 3,
                  "column": 3,
                  "end_line": 3,
                  "end_column": 6,
                  "hint": "mend it"
                },
                {
                  "code": "dollar",
                  "severity": "warning",
                  "message": "not <good>"
                }
              ],
              "allowed": 1
            },
            {
              "name": "b.json",
              "file": "b.json",
              "status": "passed",
              "diagnostics": [],
              "allowed": 0
            }
          ],
          "summary": {
            "results": 2,
            "failed": 1,
            "errors": 1,
            "warnings": 1,
            "infos": 0,
            "allowed": 1,
            "fixable": 0
          }
        }
        "#);
    }

    #[test]
    fn jsonl() {
        let lines = report(json::Lines);
        assert_eq!(lines.lines().count(), 3);
        let last = lines.lines().last().expect("a summary");
        insta::assert_snapshot!(last, @r#"
        {"summary":{"results":2,"failed":1,"errors":1,"warnings":1,"infos":0,"allowed":1,"fixable":0}}
        "#);
        for line in lines.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        }
    }

    #[test]
    fn junit() {
        insta::assert_snapshot!(report(junit::Junit::new("lint")), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="obverse" tests="2" skipped="0" failures="1" errors="0">
            <testsuite name="obverse lint" tests="2" skipped="0" errors="0" failures="1">
                <testcase name="dir/a,b.json" classname="obverse.lint">
                    <failure message="3:3: error[bad-pattern] it is % bad:\nvery \u{1b}[31m">3:3: error[bad-pattern] it is % bad:\nvery \u{1b}[31m
            mend it
        warning[dollar] not &lt;good&gt;
        </failure>
                </testcase>
                <testcase name="b.json" classname="obverse.lint"/>
            </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn markdown() {
        insta::assert_snapshot!(report(markdown::Markdown::new("lint", "file")), @r#"
        ### obverse lint

        2 files: 1 error, 1 warning

        **error** `bad-pattern` in `dir/a,b.json:3:3`

        ```text
        it is % bad:
        very \u{1b}[31m

        mend it
        ```

        **warning** `dollar` in `dir/a,b.json`

        ```text
        not <good>
        ```
        "#);
    }

    #[test]
    fn sarif() {
        insta::assert_snapshot!(report(sarif::Sarif::default()), @r###"
        {
          "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
          "runs": [
            {
              "results": [
                {
                  "level": "error",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "dir/a,b.json"
                        },
                        "region": {
                          "endColumn": 6,
                          "endLine": 3,
                          "startColumn": 3,
                          "startLine": 3
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "it is % bad:\nvery \u001b[31m\nmend it"
                  },
                  "ruleId": "bad-pattern",
                  "ruleIndex": 0
                },
                {
                  "level": "warning",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "dir/a,b.json"
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "not <good>"
                  },
                  "ruleId": "dollar",
                  "ruleIndex": 1
                }
              ],
              "tool": {
                "driver": {
                  "name": "obverse",
                  "rules": [
                    {
                      "help": {
                        "text": "## bad-pattern\n\nerror: A pattern does not compile, or uses what is not supported. The label marks the place in it.\n\n```json\n{\"start_anchor\": \"<bot>\", \"fields\": {\"content\": {\"close_pattern\": \"</bot>(\"}}}\n```\n\n`obverse lint` says\n\n```text\nclose_pattern does not compile: `)` is missing\n```\n"
                      },
                      "id": "bad-pattern"
                    },
                    {
                      "fullDescription": {
                        "text": "To Python `$` is the end of the text or the place before a line feed that ends it. While a response arrives every line feed is the last for a moment: transformers then closes the region there, and a streamed response gives another message than the same response at once. At once the final line feed is not the region's."
                      },
                      "help": {
                        "markdown": "## dollar\n\nwarning: `$` in a delimiter also matches before a final line feed, and streaming meets many of those\n\n**Why it matters.** To Python `$` is the end of the text or the place before a line feed that ends it. While a response arrives every line feed is the last for a moment: transformers then closes the region there, and a streamed response gives another message than the same response at once. At once the final line feed is not the region's.\n\n**What to do.** Write `\\Z`, the very end. Behind a marker write `\\s*\\Z` or `\\n?\\Z`: a final line feed would otherwise keep the marker from being found. Where a region lasts to the end anyway, no close is needed for it.\n\n```json\n{\"start_anchor\": \"<bot>\", \"fields\": {\n  \"content\": {\"close_pattern\": \"</bot>\\\\s*|$\", \"content_args\": {\"strip\": false}}\n}}\n```\n\nThe response `\"Hello\\n\"` parses to\n\n```text\n{\"content\": \"Hello\"}\n```\n\nBetter:\n\n```json\n{\"start_anchor\": \"<bot>\", \"fields\": {\n  \"content\": {\"close_pattern\": \"</bot>\\\\s*|\\\\Z\", \"content_args\": {\"strip\": false}}\n}}\n```\n\nThe same response parses to\n\n```text\n{\"content\": \"Hello\\n\"}\n```\n",
                        "text": "Write `\\Z`, the very end. Behind a marker write `\\s*\\Z` or `\\n?\\Z`: a final line feed would otherwise keep the marker from being found. Where a region lasts to the end anyway, no close is needed for it."
                      },
                      "id": "dollar",
                      "shortDescription": {
                        "text": "`$` in a delimiter also matches before a final line feed, and streaming meets many of those"
                      }
                    }
                  ],
                  "version": "0.1.0"
                }
              }
            }
          ],
          "version": "2.1.0"
        }
        "###);
    }
}
