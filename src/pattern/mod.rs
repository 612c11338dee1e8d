//! Delimiters as patterns.

use std::fmt;
use std::ops::Range;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: fancy_regex::Regex,
    literals: Option<Vec<String>>,
    names: Vec<String>,
}

/// Why a pattern does not compile.
#[derive(Debug, Clone)]
pub struct PatternError {
    message: String,
    /// Byte offsets into the pattern.
    pub span: Range<usize>,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Why a match could not be decided.
#[derive(Debug, Clone)]
pub struct MatchError(String);

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A match.
#[derive(Debug, Clone)]
pub struct Captures {
    /// Byte offsets of the match.
    pub span: Range<usize>,
    /// The named groups.
    pub groups: Vec<(String, Option<Range<usize>>)>,
}

impl Pattern {
    /// Compiles a regex.
    pub fn regex(source: &str) -> Result<Self, PatternError> {
        let regex =
            fancy_regex::Regex::new(&format!("(?s:{source})")).map_err(|error| PatternError {
                message: error.to_string(),
                span: 0..source.len(),
            })?;
        let names = regex.capture_names().flatten().map(str::to_owned).collect();
        Ok(Self {
            regex,
            literals: None,
            names,
        })
    }

    /// Compiles literals.
    pub fn literals(literals: &[String]) -> Result<Self, PatternError> {
        let mut sorted = literals.to_vec();
        sorted.sort_by_key(|literal| std::cmp::Reverse(literal.chars().count()));
        let source = sorted
            .iter()
            .map(|literal| fancy_regex::escape(literal).into_owned())
            .collect::<Vec<_>>();
        let mut pattern = Self::regex(&source.join("|"))?;
        pattern.literals = Some(literals.to_vec());
        Ok(pattern)
    }

    /// The literals, if it was made from them.
    pub fn as_literals(&self) -> Option<&[String]> {
        self.literals.as_deref()
    }

    /// The names of its groups.
    pub fn group_names(&self) -> &[String] {
        &self.names
    }

    /// The first match from `from`.
    pub fn search(&self, text: &str, from: usize) -> Result<Option<Captures>, MatchError> {
        let found = self
            .regex
            .captures_from_pos(text, from)
            .map_err(|error| MatchError(error.to_string()))?;
        Ok(found.map(|captures| self.captures(&captures)))
    }

    /// All matches.
    pub fn find_iter<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = Result<Captures, MatchError>> + 'a {
        self.regex.captures_iter(text).map(|found| match found {
            Ok(captures) => Ok(self.captures(&captures)),
            Err(error) => Err(MatchError(error.to_string())),
        })
    }

    fn captures(&self, found: &fancy_regex::Captures<'_, str>) -> Captures {
        let span = found.get(0).map_or(0..0, |all| all.range());
        let groups = self
            .names
            .iter()
            .map(|name| (name.clone(), found.name(name).map(|m| m.range())))
            .collect();
        Captures { span, groups }
    }
}
