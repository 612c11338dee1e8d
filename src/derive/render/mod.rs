//! Rendering variants of conversations: what the chat template requires of its inputs, what it writes beside the messages, and what was
//! rendered before.
//!
//! - [`renderer`] makes and renders the variants of a [`conversation`], [`cache`] keeps the renders, [`cost`] counts them;
//! - [`open`] opens a chat template; [`requirements`] says what it cannot do without, and `question` makes the plainest conversations that meet it;
//! - [`unasked`] finds a generation prompt that nobody asked for, [`trailer`] what is written after the last message, [`cutting`] where
//!   a template cuts an answer, [`varying`] the parts of its own texts that differ from render to render, and `calls_alone` renders calls that
//!   stand only before another message, or beside an answer.

pub(in crate::derive) mod cache;
mod calls_alone;
pub(in crate::derive) mod conversation;
pub(in crate::derive) mod cost;
pub(in crate::derive) mod cutting;
mod opening;
mod question;
pub(in crate::derive) mod renderer;
pub(in crate::derive) mod requirements;
mod role_end;
mod trailer;
mod unasked;
mod varying;

pub(in crate::derive) use opening::open;
