//! Patterns beside Python's `regex` and `re`.

mod classes;
mod re;
mod regex;
