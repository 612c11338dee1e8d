//! Comparing renders: what two of them share, where markers begin and end, what of a marker varies.
//!
//! - [`text`] knows common beginnings and ends, and writes texts as patterns; [`json_shape`] finds values in JSON;
//! - [`pattern`] takes the sources of patterns apart, to write other patterns with them;
//! - [`pieces`] tells where in a text one marker ends and the next begins: `lines` has the constants that renders are made of, and
//!   `parting` finds two markers in one constant;
//! - [`slot`] has the places of a marker in which something varies, and [`repeated`] tells what belongs to each of two things from
//!   what belongs to both.
//!
//! Nothing here renders, and nothing here decides.

pub(in crate::derive) mod json_shape;
mod lines;
pub(in crate::derive) mod parting;
pub(in crate::derive) mod pattern;
pub(in crate::derive) mod pieces;
pub(in crate::derive) mod repeated;
pub(in crate::derive) mod slot;
pub(in crate::derive) mod text;
