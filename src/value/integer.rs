//! Integers of any size, kept by their digits when they outgrow a machine word.

use std::fmt;

/// An integer of any size, exact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// Canonical decimal digits outside `i64`: an optional `-`, no leading zero.
    Big(Box<str>),
}

impl Integer {
    /// The integer that ASCII decimal digits spell, with an optional sign; `None` when there is anything else.
    ///
    /// ```
    /// use obverse::value::Integer;
    /// let big = Integer::from_digits("+0123456789012345678901234567890").unwrap();
    /// assert_eq!(big.to_string(), "123456789012345678901234567890");
    /// assert_eq!(Integer::from_digits("-0"), Some(Integer::from(0)));
    /// assert_eq!(Integer::from_digits("12a"), None);
    /// ```
    pub fn from_digits(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // As many digits as always fit.
        if digits.len() <= 18
            && let Ok(small) = text.parse()
        {
            return Some(Self(Repr::Small(small)));
        }
        let digits = digits.trim_start_matches('0');
        let canonical = match (digits.is_empty(), negative) {
            (true, _) => "0".to_owned(),
            (false, true) => format!("-{digits}"),
            (false, false) => digits.to_owned(),
        };
        Some(match canonical.parse() {
            Ok(small) => Self(Repr::Small(small)),
            Err(_) => Self(Repr::Big(canonical.into())),
        })
    }

    /// The integer that a double without a fraction stands for, exactly; `None` for a fraction, `NaN` and the infinities.
    ///
    /// ```
    /// use obverse::value::Integer;
    /// assert_eq!(Integer::from_float(1e23).unwrap().to_string(), "99999999999999991611392");
    /// assert_eq!(Integer::from_float(-0.0), Some(Integer::from(0)));
    /// assert_eq!(Integer::from_float(0.5), None);
    /// ```
    pub fn from_float(float: f64) -> Option<Self> {
        if !float.is_finite() || float.fract() != 0.0 {
            return None;
        }
        Self::from_digits(&format!("{float:.0}"))
    }

    /// The value as `i64`, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Big(_) => None,
        }
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self(Repr::Small(value))
    }
}

impl From<i32> for Integer {
    fn from(value: i32) -> Self {
        Self(Repr::Small(value.into()))
    }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self(Repr::Small(small)),
            Err(_) => Self(Repr::Big(value.to_string().into())),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => value.fmt(f),
            Repr::Big(digits) => f.write_str(digits),
        }
    }
}
