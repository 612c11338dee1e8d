//! Fixtures whose responses are written otherwise than their chat template renders the messages, in words.

use obverse::check::Rendered;
use obverse::value::json;

/// In what the response differs from the render that is nearest to it.
pub(crate) fn nearest(found: &Rendered) -> String {
    format!(
        "the nearest has {} where the response has {}",
        json::quote(&found.rendered),
        json::quote(&found.written),
    )
}
