//! Jinja's tests: what stands behind `is`.

use super::arguments::Arguments;
use super::fault::Fault;
use super::items::weight;
use super::object::Py;
use super::text_rules::cased;
use super::{Render, text};
use crate::chat_template::syntax::tree::CompareOp;

impl Render<'_> {
    pub(super) fn test(
        &mut self,
        name: &str,
        subject: &Py,
        args: Arguments,
    ) -> Result<bool, Fault> {
        self.spend(weight(subject))?;
        let plain;
        let (subject, escaped) = match subject {
            Py::Markup(_) => {
                plain = subject.clone().plain();
                (&plain, true)
            }
            other => (other, false),
        };
        let comparison = match name {
            "eq" | "equalto" | "==" => Some(CompareOp::Eq),
            "ne" | "!=" => Some(CompareOp::Ne),
            "lt" | "lessthan" | "<" => Some(CompareOp::Lt),
            "le" | "<=" => Some(CompareOp::Le),
            "gt" | "greaterthan" | ">" => Some(CompareOp::Gt),
            "ge" | ">=" => Some(CompareOp::Ge),
            "in" => Some(CompareOp::In),
            _ => None,
        };
        if let Some(op) = comparison {
            let other = args.one(name, "other")?;
            return self.compare(op, subject, &other);
        }
        match name {
            "sameas" => {
                let other = args.one(name, "other")?;
                return Ok(subject.type_name() == other.type_name() && self.same(subject, &other)?);
            }
            "divisibleby" => {
                let number = args.one(name, "num")?;
                let (a, b) = (
                    self.integer_of(name, subject)?,
                    self.integer_of(name, &number)?,
                );
                return a
                    .checked_rem(b)
                    .map(|rest| rest == 0)
                    .ok_or_else(|| Fault::error("division by zero"));
            }
            _ => args.none(name)?,
        }
        Ok(match name {
            "defined" => !subject.is_undefined(),
            "undefined" => subject.is_undefined(),
            "none" => matches!(subject, Py::None(_)),
            "true" => matches!(subject, Py::Bool(true, _)),
            "false" => matches!(subject, Py::Bool(false, _)),
            "boolean" => matches!(subject, Py::Bool(..)),
            "integer" => matches!(subject, Py::Int(..) | Py::Big(..)),
            "float" => matches!(subject, Py::Float(..)),
            "number" => matches!(
                subject,
                Py::Bool(..) | Py::Int(..) | Py::Big(..) | Py::Float(..)
            ),
            "string" => matches!(subject, Py::Str(_)),
            "mapping" => matches!(subject, Py::Dict(_)),
            "sequence" => matches!(
                subject,
                Py::Undefined(..)
                    | Py::Str(_)
                    | Py::List(_)
                    | Py::Tuple(_)
                    | Py::Dict(_)
                    | Py::Range(..)
            ),
            "iterable" => matches!(
                subject,
                Py::Undefined(..)
                    | Py::Str(_)
                    | Py::List(_)
                    | Py::Tuple(_)
                    | Py::Dict(_)
                    | Py::Range(..)
                    | Py::View(..)
                    | Py::Generator(..)
                    | Py::Loop(_)
            ),
            "callable" => matches!(
                subject,
                Py::Macro(..)
                    | Py::Method(_)
                    | Py::Global(_)
                    | Py::Joiner(_)
                    | Py::Loop(_)
                    | Py::Undefined(..)
            ),
            "odd" => self.integer_of(name, subject)?.rem_euclid(2) == 1,
            "even" => self.integer_of(name, subject)?.rem_euclid(2) == 0,
            "lower" => cased(
                &text::str_of(subject)?,
                char::is_lowercase,
                char::is_uppercase,
            ),
            "upper" => cased(
                &text::str_of(subject)?,
                char::is_uppercase,
                char::is_lowercase,
            ),
            "escaped" => escaped,
            "filter" => super::filters::is_filter(subject.as_str().unwrap_or_default()),
            "test" => is_test(subject.as_str().unwrap_or_default()),
            other => return Err(Fault::error(format!("there is no test named `{other}`"))),
        })
    }

    fn integer_of(&mut self, name: &str, value: &Py) -> Result<i128, Fault> {
        match value {
            Py::Undefined(missing, _) => Err(Fault::error(missing.message())),
            Py::Float(number, _) if number.fract() == 0.0 => Ok(*number as i128),
            other => other.as_int().ok_or_else(|| {
                Fault::error(format!(
                    "`{name}` needs a number, not a `{}`",
                    other.type_name()
                ))
            }),
        }
    }
}

/// Returns true if there is a test of that name.
pub(super) fn is_test(name: &str) -> bool {
    const NAMES: &str = " eq equalto == ne != lt lessthan < le <= gt greaterthan > ge >= in sameas divisibleby defined \
        undefined none true false boolean integer float number string mapping sequence iterable callable odd even \
        lower upper escaped filter test ";
    NAMES.split_whitespace().any(|known| known == name)
}
