//! The names that HTML 5 gives to characters (`&eacute;`).

use std::cmp::Ordering;
use std::sync::OnceLock;

/// The table has all names in order, each with the code points of its text: `NotEqualTilde=2242+338`. Behind a name that needs no semicolon stands an
/// exclamation mark.
const TABLE: &str = include_str!("entities.txt");

/// An entity is a name with the text for which it stands.
#[derive(Debug)]
struct Entity {
    name: &'static str,
    /// This is true if the name needs no semicolon.
    may_be_open: bool,
    text: String,
}

impl Entity {
    fn read(line: &'static str) -> Option<Self> {
        let (name, codes) = line.split_once('=')?;
        let text = codes
            .split('+')
            .map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32))
            .collect::<Option<String>>()?;
        let open = name.strip_suffix('!');
        Some(Self {
            name: open.unwrap_or(name),
            may_be_open: open.is_some(),
            text,
        })
    }
}

fn entities() -> &'static [Entity] {
    static ENTITIES: OnceLock<Vec<Entity>> = OnceLock::new();
    ENTITIES.get_or_init(|| {
        TABLE
            .split_ascii_whitespace()
            .filter_map(Entity::read)
            .collect()
    })
}

/// Returns the text of a name, which a semicolon follows or not; `None` where there is no such name, or where it needs a semicolon.
pub(super) fn entity(name: &str, is_closed: bool) -> Option<&'static str> {
    let entities = entities();
    let compare = |entity: &Entity| -> Ordering { entity.name.cmp(name) };
    let found = &entities[entities.binary_search_by(compare).ok()?];
    (is_closed || found.may_be_open).then_some(&*found.text)
}

#[cfg(test)]
mod tests {
    use super::{entities, entity};

    /// Python's `html.entities.html5` has as many.
    #[test]
    fn the_table_is_whole_and_in_order() {
        let entities = entities();
        assert_eq!(entities.len(), 2125);
        let open = entities.iter().filter(|entity| entity.may_be_open);
        assert_eq!(open.clone().count(), 106);
        assert_eq!(open.map(|entity| entity.name.len()).max(), Some(6));
        assert!(entities.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn names_are_found() {
        assert_eq!(entity("eacute", false), Some("é"));
        assert_eq!(entity("NotEqualTilde", true), Some("\u{2242}\u{338}"));
        assert_eq!(entity("NotEqualTilde", false), None);
        assert_eq!(entity("Tab", true), Some("\t"));
        assert_eq!(entity("nosuch", true), None);
    }
}
