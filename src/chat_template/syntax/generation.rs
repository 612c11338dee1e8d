//! `{% generation %}`: a tag of transformers that prints its body. Here it becomes a `{% with %}` that sets nothing, padded so that
//! every byte after it keeps its place.

use super::tags::tags;

/// The source with each `generation` tag replaced by one of the same length that only prints its body, and where the names of those
/// stand that open a block.
pub(super) fn neutralize(source: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(source.len());
    let mut opened = Vec::new();
    let mut done = 0;
    for tag in tags(source) {
        let instead = match &source[tag.name.clone()] {
            "generation" => {
                opened.push(tag.name.start);
                "with      "
            }
            "endgeneration" => "endwith      ",
            _ => continue,
        };
        out.push_str(&source[done..tag.name.start]);
        out.push_str(instead);
        done = tag.name.end;
    }
    out.push_str(&source[done..]);
    (out, opened)
}
