//! The arguments of a call, given to parameters as Python gives them.

use super::fault::Fault;
use super::object::Py;
use super::trace::Text;

/// The arguments that a call passes.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Py>,
    pub(super) named: Vec<(Text, Py)>,
}

impl Arguments {
    /// The arguments by parameter; `None` for one that was not given. The first `required` must be.
    pub(super) fn bind<const N: usize>(
        self,
        function: &str,
        parameters: [&str; N],
        required: usize,
    ) -> Result<[Option<Py>; N], Fault> {
        let mut out = [const { None }; N];
        if self.positional.len() > N {
            return Err(Fault::error(format!(
                "`{function}` takes at most {N} arguments, not {}",
                self.positional.len()
            )));
        }
        for (slot, value) in out.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        for (name, value) in self.named {
            let Some(at) = parameters.iter().position(|parameter| **parameter == *name) else {
                return Err(Fault::error(format!(
                    "`{function}` has no parameter `{name}`"
                )));
            };
            if out[at].is_some() {
                return Err(Fault::error(format!(
                    "`{function}` is given `{name}` twice"
                )));
            }
            out[at] = Some(value);
        }
        for (name, value) in parameters.iter().zip(&out).take(required) {
            if value.is_none() {
                return Err(Fault::error(format!("`{function}` needs `{name}`")));
            }
        }
        Ok(out)
    }

    /// Many methods of Python take no names.
    pub(super) fn without_names(self, function: &str) -> Result<Self, Fault> {
        match self.named.first() {
            Some(_) => Err(Fault::error(format!(
                "`{function}` takes no named arguments"
            ))),
            None => Ok(self),
        }
    }

    /// The only argument.
    pub(super) fn one(self, function: &str, parameter: &str) -> Result<Py, Fault> {
        let [value] = self.bind(function, [parameter], 1)?;
        Ok(value.unwrap_or(Py::NONE))
    }

    /// Nothing must be given.
    pub(super) fn none(self, function: &str) -> Result<(), Fault> {
        let [] = self.bind(function, [], 0)?;
        Ok(())
    }
}

/// An optional argument that counts.
pub(super) fn int_or(value: Option<&Py>, default: i64) -> Result<i64, Fault> {
    match value {
        None => Ok(default),
        Some(value) => value
            .as_int()
            .and_then(|value| i64::try_from(value).ok())
            .ok_or_else(|| {
                Fault::error(format!("an integer is needed, not `{}`", value.type_name()))
            }),
    }
}

/// An argument that must be a string.
pub(super) fn string<'a>(function: &str, value: &'a Py) -> Result<&'a str, Fault> {
    value.as_str().ok_or_else(|| {
        Fault::error(format!(
            "`{function}` needs a string, not `{}`",
            value.type_name()
        ))
    })
}
