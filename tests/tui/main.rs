//! The debugger as its users drive it: keys in, screens out.

mod bench;
mod editing;
mod hostile;
mod looping;
mod moving;
mod saving;
mod screens;
