//! Reading the format off renders: one file for each question, and [`analysis`] that asks them all.
//!
//! Where does the turn begin ([`anchor`]) and end ([`turn_end`])? How is reasoning written ([`reasoning`], [`prompted`], [`channels`], [`further`]), how
//! content ([`content`], [`content_close`])? How are calls handed over ([`spelling`]) and written ([`tool_calls`], [`cut`], [`arguments`], [`json_dialect`],
//! [`argument_names`], [`argument_values`], [`literals`], [`no_arguments`])? And which parts of it can no response template read ([`limit`])?

pub(in crate::derive) mod analysis;
pub(in crate::derive) mod anchor;
mod argument_names;
pub(in crate::derive) mod argument_values;
pub(in crate::derive) mod arguments;
mod call_evidence;
pub(in crate::derive) mod calls;
mod channels;
mod closed_first;
pub(in crate::derive) mod content;
mod content_close;
pub(in crate::derive) mod cut;
mod escaped;
pub(in crate::derive) mod further;
pub(in crate::derive) mod json_dialect;
pub(in crate::derive) mod limit;
mod literals;
pub(in crate::derive) mod no_arguments;
pub(in crate::derive) mod object;
mod partner;
mod prompted;
pub(in crate::derive) mod reasoning;
pub(in crate::derive) mod spelling;
#[cfg(test)]
mod tests;
pub(in crate::derive) mod thought;
pub(in crate::derive) mod tool_calls;
pub(in crate::derive) mod turn_end;
pub(in crate::derive) mod unread;
