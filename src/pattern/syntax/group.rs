//! The constructs that open with a parenthesis: groups, flags, look-around, conditionals.

use super::ast::{Conditional, Look, Node, Test};
use super::parser::{Flags, GroupReference, Parser};
use crate::pattern::error::PatternError;

impl Parser<'_> {
    /// Reads the construct behind an opening parenthesis that has been read; `None` for one that matches nothing, such as flags.
    pub(super) fn group(&mut self) -> Result<Option<Node>, PatternError> {
        let start = self.cursor.at - 1;
        match self.cursor.raw_peek() {
            Some('*') if self.is_re() => self.capture(None).map(Some),
            Some('?') => {
                self.cursor.raw_next();
                self.extension(start)
            }
            Some('*') => self.verb(start),
            _ => self.capture(None).map(Some),
        }
    }

    fn extension(&mut self, start: usize) -> Result<Option<Node>, PatternError> {
        let kind_at = self.cursor.at;
        let node = match self.cursor.raw_next() {
            Some('|' | 'R' | '&' | '0'..='9' | '+') if self.is_re() => {
                return Err(self.unknown_extension(start));
            }
            Some('-')
                if self.is_re() && self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) =>
            {
                return Err(self.unknown_extension(start));
            }
            Some('<') => {
                let name_at = self.cursor.at;
                match self.cursor.next() {
                    Some('=') => self.look(true, false)?,
                    Some('!') => self.look(true, true)?,
                    _ if self.is_re() => return Err(self.unknown_extension(start)),
                    _ => {
                        self.cursor.at = name_at;
                        self.named_capture()?
                    }
                }
            }
            Some('=') => self.look(false, false)?,
            Some('!') => self.look(false, true)?,
            Some('P') => match self.cursor.next() {
                Some('<') => self.named_capture()?,
                Some('=') => {
                    let name_at = self.cursor.at;
                    let name = self.name(true)?;
                    self.expect(")")?;
                    self.backreference(name, name_at..self.cursor.at - 1)?
                }
                Some('>' | '&') if self.is_re() => return Err(self.unknown_extension(start)),
                Some('>' | '&') => return Err(self.recursion(start)),
                _ => return Err(self.unknown_extension(start)),
            },
            Some('#') => {
                self.comment(start)?;
                return Ok(None);
            }
            Some('(') => self.conditional()?,
            Some('>') => Node::Atomic(Box::new(self.scoped(Self::alternatives)?)),
            Some('|') => self.branch_reset()?,
            Some('R' | '&' | '0'..='9') => return Err(self.recursion(start)),
            Some('+' | '-') if self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) => {
                return Err(self.recursion(start));
            }
            _ => {
                self.cursor.at = kind_at;
                return self.flags_group(start);
            }
        };
        Ok(Some(node))
    }

    /// `(*FAIL)` and the like, or a group that begins with a star and so is wrong.
    fn verb(&mut self, start: usize) -> Result<Option<Node>, PatternError> {
        let name: String = self.cursor.source[start + 2..]
            .chars()
            .take_while(|c| *c != ')' && *c != '>')
            .collect();
        if !name.chars().next().is_some_and(char::is_alphabetic) {
            return self.capture(None).map(Some);
        }
        let end = start + 2 + name.len();
        let closed = self.cursor.source[end..].starts_with(')');
        match name.as_str() {
            "FAIL" | "F" if closed => {
                self.cursor.at = end + 1;
                Ok(Some(Node::Class(super::class::none())))
            }
            "PRUNE" | "SKIP" => Err(PatternError::new(
                format!("the verb `(*{name})` is not supported"),
                start..end,
            )),
            _ => Err(PatternError::new("unknown verb", start..end)),
        }
    }

    /// Reads a subpattern up to its closing parenthesis; flags that are set in it end with it.
    fn scoped<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, PatternError>,
    ) -> Result<T, PatternError> {
        let saved = self.flags;
        let result = read(self)?;
        self.expect(")")?;
        self.set_flags(saved);
        Ok(result)
    }

    fn set_flags(&mut self, flags: Flags) {
        self.flags = flags;
        self.cursor.verbose = flags.verbose;
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), PatternError> {
        if self.cursor.eat(text) {
            return Ok(());
        }
        let at = self.cursor.at;
        let end = at + self.cursor.raw_peek().map_or(0, char::len_utf8);
        Err(PatternError::new(format!("`{text}` is missing"), at..end))
    }

    fn look(&mut self, behind: bool, negative: bool) -> Result<Node, PatternError> {
        let at = self.cursor.at;
        let node = self.scoped(Self::alternatives)?;
        if behind && self.is_re() && node.max_chars() != Some(node.min_chars()) {
            return Err(PatternError::new(
                "what a look behind reads must have one length",
                at..self.cursor.at - 1,
            ));
        }
        Ok(Node::Look(Box::new(Look {
            behind,
            negative,
            node,
        })))
    }

    fn named_capture(&mut self) -> Result<Node, PatternError> {
        let at = self.cursor.at;
        let name = match self.name(false)? {
            GroupReference::Name(name) => name,
            GroupReference::Number(_) => {
                return Err(PatternError::new(
                    "a group's name cannot be a number",
                    at..self.cursor.at,
                ));
            }
        };
        self.expect(">")?;
        self.capture(Some(name))
    }

    fn capture(&mut self, name: Option<String>) -> Result<Node, PatternError> {
        let known = name
            .as_ref()
            .and_then(|name| self.numbers.get(name).copied());
        let number = known.unwrap_or_else(|| {
            self.group_count += 1;
            // In the branches of `(?|...)` a number may have been given a name already.
            while name.is_some()
                && self
                    .names
                    .iter()
                    .any(|(_, number)| *number == self.group_count)
            {
                self.group_count += 1;
            }
            self.group_count
        });
        if known.is_some() && self.is_re() {
            let at = self.cursor.at;
            return Err(PatternError::new("two groups have one name", at - 1..at)
                .with_hint("`re` takes each name once"));
        }
        let unnamed = || self.is_re().then(|| number.to_string());
        if let (None, Some(name)) = (known, name.or_else(unnamed)) {
            self.numbers.insert(name.clone(), number);
            self.names.push((name, number));
        }
        let nested = self.open_groups.contains(&number);
        self.open_groups.push(number);
        let node = self.scoped(Self::alternatives)?;
        self.open_groups.pop();
        // A group within the group of the same name remembers nothing that could be asked for.
        if nested {
            return Ok(match node {
                Node::Concat(_) | Node::Alternation(_) => node,
                node => Node::Concat(vec![node]),
            });
        }
        Ok(Node::Group(number, Box::new(node)))
    }

    /// A group's name or, where `numeric`, its number.
    pub(super) fn name(&mut self, numeric: bool) -> Result<GroupReference, PatternError> {
        let at = self.cursor.at;
        let name = self.cursor.take_while(|c| c != ')' && c != '>');
        let place = at..self.cursor.at;
        if name.is_empty() {
            return Err(PatternError::new("a group's name is missing", place));
        }
        if name.bytes().all(|b| b.is_ascii_digit()) {
            let number = name
                .parse::<usize>()
                .ok()
                .filter(|number| numeric && *number > 0);
            return number.map(GroupReference::Number).ok_or_else(|| {
                PatternError::new(format!("`{name}` is not a group's name"), place)
            });
        }
        if !super::class::is_identifier(&name) {
            return Err(
                PatternError::new(format!("`{name}` is not a group's name"), place)
                    .with_hint("a name is made of letters, digits and underscores"),
            );
        }
        Ok(GroupReference::Name(name))
    }

    /// A reference to what a group matched.
    pub(super) fn backreference(
        &mut self,
        reference: GroupReference,
        place: std::ops::Range<usize>,
    ) -> Result<Node, PatternError> {
        let open = match &reference {
            GroupReference::Number(number) => self.open_groups.contains(number),
            GroupReference::Name(name) => self
                .numbers
                .get(name)
                .is_some_and(|number| self.open_groups.contains(number)),
        };
        if open {
            return Err(PatternError::new("a group refers to itself", place));
        }
        let is_known = match &reference {
            GroupReference::Number(number) => *number <= self.group_count,
            GroupReference::Name(name) => self.numbers.contains_key(name),
        };
        if self.is_re() && !is_known {
            return Err(PatternError::new("there is no such group so far", place));
        }
        self.references.push((reference, place));
        Ok(Node::Backreference {
            group: self.references.len() - 1,
            ignore_case: self.flags.ignore_case,
        })
    }

    fn comment(&mut self, start: usize) -> Result<(), PatternError> {
        loop {
            match self.cursor.raw_next() {
                Some(')') => return Ok(()),
                Some('\\') => {
                    self.cursor.raw_next();
                }
                Some(_) => {}
                None => {
                    return Err(PatternError::new(
                        "the comment is not closed",
                        start..self.cursor.at,
                    ));
                }
            }
        }
    }

    fn conditional(&mut self) -> Result<Node, PatternError> {
        let at = self.cursor.at;
        let test = if self.cursor.next() == Some('?') && !self.is_re() {
            let (behind, negative) = match (self.cursor.next(), self.cursor.clone().next()) {
                (Some('='), _) => (false, false),
                (Some('!'), _) => (false, true),
                (Some('<'), Some('=')) => (true, false),
                (Some('<'), Some('!')) => (true, true),
                _ => {
                    return Err(PatternError::new(
                        "a conditional asks for a group or a look-around",
                        at..self.cursor.at,
                    ));
                }
            };
            if behind {
                self.cursor.next();
            }
            let node = self.scoped(Self::alternatives)?;
            Test::Look(Look {
                behind,
                negative,
                node,
            })
        } else {
            self.cursor.at = at;
            let reference = self.name(true)?;
            let place = at..self.cursor.at;
            if self.is_re()
                && let GroupReference::Name(name) = &reference
                && !self.numbers.contains_key(name)
            {
                return Err(PatternError::new("there is no such group so far", place));
            }
            self.expect(")")?;
            self.references.push((reference, place));
            Test::Group(self.references.len() - 1)
        };
        let (yes, no) = self.scoped(|parser| {
            let yes = parser.nested_sequence()?;
            let no = if parser.cursor.eat("|") {
                parser.nested_sequence()?
            } else {
                Node::Empty
            };
            Ok((yes, no))
        })?;
        Ok(Node::Conditional(Box::new(Conditional { test, yes, no })))
    }

    /// `(?|a|b)`: the groups of every branch are numbered from the same number on.
    fn branch_reset(&mut self) -> Result<Node, PatternError> {
        let first = self.group_count;
        let mut last = first;
        let mut branches = Vec::new();
        loop {
            self.group_count = first;
            branches.push(self.nested_sequence()?);
            last = last.max(self.group_count);
            if !self.cursor.eat("|") {
                break;
            }
        }
        self.group_count = last;
        self.expect(")")?;
        Ok(if branches.len() == 1 {
            branches.remove(0)
        } else {
            Node::Alternation(branches)
        })
    }

    /// `(?i)`, `(?i:...)`, `(?-i:...)`, `(?:...)`.
    fn flags_group(&mut self, start: usize) -> Result<Option<Node>, PatternError> {
        let mut flags = self.flags;
        let on = self.flag_letters()?;
        let mut off = String::new();
        if self.cursor.eat("-") {
            off = self.flag_letters()?;
            if off.is_empty() {
                return Err(PatternError::new(
                    "no flag follows the minus",
                    start..self.cursor.at,
                ));
            }
            if off.contains(['b', 'e', '0']) {
                return Err(PatternError::new(
                    "a flag of the whole pattern cannot be taken back",
                    start..self.cursor.at,
                ));
            }
            if on.chars().any(|flag| off.contains(flag)) {
                return Err(PatternError::new(
                    "a flag is both set and taken back",
                    start..self.cursor.at,
                ));
            }
        }
        let scoped = match self.cursor.next() {
            Some(':') => true,
            Some(')') => false,
            _ => return Err(self.unknown_extension(start)),
        };
        if self.is_re() {
            self.check_flags(scoped, &on, &off, start)?;
            if (on.contains('a') || on.contains('u')) && scoped {
                flags.ascii = false;
                flags.unicode = false;
            }
        } else if scoped {
            // A group with flags of its own, even none, leaves the flags `a` and `u` of the groups around it.
            flags.ascii = false;
            flags.unicode = false;
        }
        for (letters, value) in [(on, true), (off, false)] {
            for flag in letters.chars() {
                match flag {
                    'i' => flags.ignore_case = value,
                    'm' => flags.multiline = value,
                    's' => flags.dotall = value,
                    'x' => flags.verbose = value,
                    'a' => flags.ascii = value,
                    'u' => flags.unicode = value,
                    // They bear on fuzzy matching only, or say what is so already.
                    _ => {}
                }
            }
        }
        if !scoped {
            self.set_flags(flags);
            return Ok(None);
        }
        let saved = self.flags;
        self.set_flags(flags);
        let node = self.alternatives()?;
        self.expect(")")?;
        self.set_flags(saved);
        // A quantifier inside does not forbid one behind the group.
        Ok(Some(node))
    }

    /// Refuses the combinations of flags that `re` does not take.
    fn check_flags(
        &self,
        scoped: bool,
        on: &str,
        off: &str,
        start: usize,
    ) -> Result<(), PatternError> {
        let place = start..self.cursor.at;
        if !scoped && !off.is_empty() {
            let message = "flags are taken back for a part of the pattern only";
            return Err(PatternError::new(message, place).with_hint("write `(?-i:...)`"));
        }
        if off.contains(['a', 'u']) {
            let message = "the flags `a` and `u` cannot be taken back";
            return Err(PatternError::new(message, place));
        }
        if on.contains('a') && on.contains('u') {
            let message = "the flags `a` and `u` exclude each other";
            return Err(PatternError::new(message, place));
        }
        if on.contains(['b', 'e', '0'])
            || off.contains(['b', 'e', '0'])
            || (!scoped && on.is_empty())
        {
            return Err(self.unknown_extension(start));
        }
        Ok(())
    }

    /// Returns true if flags of the whole pattern follow an opening parenthesis that has been read.
    pub(super) fn is_global_flags(&self) -> bool {
        let rest = &self.cursor.source[self.cursor.at..];
        rest.strip_prefix('?').is_some_and(|rest| {
            let letters = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            letters.len() < rest.len() && letters.starts_with(')')
        })
    }

    /// The letters of flags; `0` stands for `V0`.
    fn flag_letters(&mut self) -> Result<String, PatternError> {
        let mut letters = String::new();
        loop {
            let at = self.cursor.at;
            let refused = |name: &str, end: usize| {
                Err(PatternError::new(
                    format!("the flag `{name}` is not supported"),
                    at..end,
                ))
            };
            match self.cursor.next() {
                Some(flag @ ('i' | 'm' | 's' | 'x' | 'a' | 'u' | 'b' | 'e')) => letters.push(flag),
                Some('V') => match self.cursor.next() {
                    Some('0') => letters.push('0'),
                    Some('1') => return refused("V1", self.cursor.at),
                    _ => {
                        self.cursor.at = at;
                        return Ok(letters);
                    }
                },
                Some(flag @ ('f' | 'L' | 'p' | 'r' | 'w')) => {
                    return refused(&flag.to_string(), self.cursor.at);
                }
                _ => {
                    self.cursor.at = at;
                    return Ok(letters);
                }
            }
        }
    }

    fn recursion(&self, start: usize) -> PatternError {
        let rest = &self.cursor.source[start..];
        let end = start + rest.find(')').map_or(rest.len(), |close| close + 1);
        PatternError::new(
            "recursion and calls of groups are not supported",
            start..end,
        )
    }

    fn unknown_extension(&self, start: usize) -> PatternError {
        PatternError::new("unknown kind of group", start..self.cursor.at)
            .with_hint("write `\\(` for the character itself")
    }
}

#[cfg(test)]
mod tests {
    use super::Node;
    use crate::pattern::syntax::parse;

    #[test]
    fn flags_end_with_their_group() {
        let Node::Concat(nodes) = parse("(?:(?i)a)a(?-s:.).").expect("a pattern").node else {
            panic!("a sequence");
        };
        assert!(matches!(nodes[0], Node::Class(_)) && matches!(nodes[1], Node::Char('a')));
        let counts = |at: usize| match &nodes[at] {
            Node::Class(class) => class.ranges().len(),
            node => panic!("{node:?}"),
        };
        assert_eq!((counts(2), counts(3)), (2, 1));
    }

    #[test]
    fn what_is_refused_is_named() {
        for (source, message) in [
            ("(?", "unknown kind of group"),
            ("(?<x", "`>` is missing"),
            ("(?<x-y>a)", "`x-y` is not a group's name"),
            (
                "(?(?>a)b)",
                "a conditional asks for a group or a look-around",
            ),
            ("(?#a", "the comment is not closed"),
            ("(?i-i)", "a flag is both set and taken back"),
            ("(?w)", "the flag `w` is not supported"),
            ("(*FOO)", "unknown verb"),
        ] {
            assert_eq!(parse(source).expect_err(source).message, message);
        }
    }
}
