//! JUnit XML: one test case for each result.

use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary, severity};
use crate::cli::escape;

pub(super) struct Junit {
    verb: &'static str,
    suite: TestSuite,
}

impl Junit {
    pub(super) fn new(verb: &'static str) -> Self {
        Self {
            verb,
            suite: TestSuite::new(format!("obverse {verb}")),
        }
    }
}

impl Reporter for Junit {
    fn result(&mut self, outcome: &Outcome, _: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        for diagnostic in &outcome.diagnostics {
            if let Some(place) = FilePlace::of(diagnostic, outcome) {
                let _ = write!(text, "{}: ", place.text());
            }
            let _ = writeln!(
                text,
                "{}[{}] {}",
                severity(diagnostic.severity),
                diagnostic.code,
                escape::line(&diagnostic.message)
            );
            if let Some(hint) = &diagnostic.hint {
                let _ = writeln!(text, "    {}", escape::line(hint));
            }
        }
        let name = escape::line(&outcome.name).into_owned();
        let mut case = if outcome.failed() {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_message(text.lines().next().unwrap_or_default())
                .set_description(text);
            TestCase::new(name, status)
        } else {
            let mut case = TestCase::new(name, TestCaseStatus::success());
            if !text.is_empty() {
                case.set_system_out(text);
            }
            case
        };
        case.set_classname(format!("obverse.{}", self.verb));
        self.suite.add_test_case(case);
        Ok(())
    }

    fn finish(&mut self, _: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let mut report = quick_junit::Report::new("obverse");
        report.add_test_suite(self.suite.clone());
        report.serialize(&mut *out).map_err(io::Error::other)?;
        writeln!(out)
    }
}
