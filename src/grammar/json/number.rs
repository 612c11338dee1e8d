//! Numbers. Their digits are limited, so that a sampler ends and an engine reads them back into 64 bits.

use super::JsonWriter;
use crate::grammar::chars::Chars;
use crate::grammar::expr::{Expr, Id};

impl JsonWriter<'_> {
    fn digits(&mut self, from: char, min: u32, max: u32) -> Id {
        self.arena.add(Expr::Run {
            chars: Chars::from_ranges(&[(from, '9')]),
            min,
            max: Some(max),
        })
    }

    /// A whole number of at most nineteen digits.
    pub(crate) fn integer(&mut self) -> Id {
        let minus = self.arena.text("-");
        let sign = self.arena.optional(minus);
        let zero = self.arena.text("0");
        let (first, rest) = (self.digits('1', 1, 1), self.digits('0', 0, 18));
        let many = self.arena.seq([first, rest]);
        let number = self.arena.choice([many, zero]);
        self.arena.seq([sign, number])
    }

    /// A number with or without a fraction and an exponent.
    pub(crate) fn number(&mut self) -> Id {
        let whole = self.integer();
        let point = self.arena.text(".");
        let digits = self.digits('0', 1, 18);
        let fraction = self.arena.seq([point, digits]);
        let fraction = self.arena.optional(fraction);
        let (small, large) = (self.arena.text("e"), self.arena.text("E"));
        let e = self.arena.choice([small, large]);
        let (minus, plus) = (self.arena.text("-"), self.arena.text("+"));
        let sign = self.arena.choice([minus, plus]);
        let sign = self.arena.optional(sign);
        let power = self.digits('0', 1, 2);
        let exponent = self.arena.seq([e, sign, power]);
        let exponent = self.arena.optional(exponent);
        self.arena.seq([whole, fraction, exponent])
    }
}
