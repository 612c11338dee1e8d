//! The members of an object, in the order in which they were written.
//!
//! Objects in messages have a handful of members with short names. So the members lie side by side, a name of up to 23
//! bytes lies in its entry, and only an object with many members has an index: a small object asks for memory once.
//!
//! Copies share their members until one of them is changed: a message that is rendered, parsed, compared and reported
//! is one message in memory. (A derivation holds each of its messages in half a dozen places. When each had its own
//! copy, they were a quarter of all that it allocated.) Only who changes a shared object pays for a copy, of its own
//! members and not of those inside them.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use smallvec::SmallVec;

use super::Value;

/// The name of an object's member: text that cannot be changed, cheap to clone.
pub type Key = smol_str::SmolStr;

/// An object with more members than this has an index.
const SMALL: usize = 16;

/// The members that lie beside the count of who shares them. Most objects have one or two.
const FIRST: usize = 2;

/// An object's members in the order in which they were written, each name once.
///
/// ```
/// use obverse::value::{Map, Value};
/// let mut map = Map::new();
/// map.insert("b", Value::from(1));
/// map.insert("a", Value::Null);
/// assert_eq!(map.insert("b", Value::from(2)), Some(Value::from(1)));
/// assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "a"]);
/// assert_eq!(map["b"], Value::from(2));
/// ```
///
/// A clone costs no memory until it or the original is changed.
#[derive(Clone, Default)]
pub struct Map {
    /// None where there has never been a member.
    members: Option<Arc<Members>>,
}

#[derive(Clone, Default)]
struct Members {
    entries: SmallVec<[(Key, Value); FIRST]>,
    /// For many members, where each is.
    #[expect(
        clippy::box_collection,
        reason = "most maps have none, and what is small is allocated fastest"
    )]
    index: Option<Box<HashMap<Key, usize>>>,
}

impl Members {
    fn get_index_of(&self, key: &str) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|(known, _)| known == key),
            Some(index) => index.get(key).copied(),
        }
    }

    fn make_index(&mut self) {
        let places = || {
            let keys = self.entries.iter().map(|(key, _)| key.clone());
            Box::new(keys.zip(0..).collect())
        };
        self.index = (self.entries.len() > SMALL).then(places);
    }
}

impl Map {
    /// No members.
    pub const fn new() -> Self {
        Self { members: None }
    }

    /// No members, and room for so many.
    pub fn with_capacity(capacity: usize) -> Self {
        let members = || Members {
            entries: SmallVec::with_capacity(capacity),
            index: None,
        };
        Self {
            members: (capacity > 0).then(|| Arc::new(members())),
        }
    }

    fn entries(&self) -> &[(Key, Value)] {
        self.members
            .as_deref()
            .map_or(&[], |members| &members.entries)
    }

    /// The members, which are this map's own from here on.
    fn own(&mut self) -> &mut Members {
        Arc::make_mut(self.members.get_or_insert_default())
    }

    fn entries_mut(&mut self) -> &mut [(Key, Value)] {
        match &mut self.members {
            None => &mut [],
            Some(members) => &mut Arc::make_mut(members).entries,
        }
    }

    fn into_entries(self) -> SmallVec<[(Key, Value); FIRST]> {
        let members = self.members.map(Arc::unwrap_or_clone);
        members.map_or_else(SmallVec::new, |members| members.entries)
    }

    /// Returns true if both are copies of one map that nobody has changed since.
    pub(crate) fn shares(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// How many members come before the one of that name.
    pub fn get_index_of(&self, key: &str) -> Option<usize> {
        self.members.as_ref()?.get_index_of(key)
    }

    /// The member of that name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let members = self.members.as_ref()?;
        let at = members.get_index_of(key)?;
        Some(&members.entries[at].1)
    }

    /// The member of that name, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let at = self.get_index_of(key)?;
        Some(&mut self.own().entries[at].1)
    }

    /// Returns true if there is a member of that name.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get_index_of(key).is_some()
    }

    /// Sets a member, where it is if there is one of that name, which is returned; at the end otherwise.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) -> Option<Value> {
        self.insert_full(key, value).1
    }

    /// Inserts a member as [`insert`](Self::insert) does; gives how many members come before it, too.
    #[inline]
    pub fn insert_full(&mut self, key: impl Into<Key>, value: Value) -> (usize, Option<Value>) {
        let key = key.into();
        let own = self.own();
        if let Some(at) = own.get_index_of(&key) {
            return (at, Some(std::mem::replace(&mut own.entries[at].1, value)));
        }
        let at = own.entries.len();
        if let Some(index) = &mut own.index {
            index.insert(key.clone(), at);
        }
        own.entries.push((key, value));
        if at == SMALL {
            own.make_index();
        }
        (at, None)
    }

    /// The member of that name, which is null where there was none.
    pub fn get_or_insert_null(&mut self, key: impl Into<Key>) -> &mut Value {
        let key = key.into();
        let at = match self.get_index_of(&key) {
            Some(at) => at,
            None => self.insert_full(key, Value::Null).0,
        };
        &mut self.own().entries[at].1
    }

    /// Puts the members in the order of their names' code points.
    pub fn sort_keys(&mut self) {
        if self
            .entries()
            .is_sorted_by(|(one, _), (other, _)| one <= other)
        {
            return;
        }
        let own = self.own();
        own.entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        own.make_index();
    }

    /// Sets a member and puts it at this place, where it moves those behind it.
    ///
    /// # Panics
    ///
    /// When there are fewer members than `at`.
    pub fn shift_insert(&mut self, at: usize, key: impl Into<Key>, value: Value) {
        let key = key.into();
        let own = self.own();
        own.entries.retain(|(known, _)| *known != key);
        own.entries.insert(at, (key, value));
        own.make_index();
    }

    /// Takes a member out; the order of the others stays.
    pub fn shift_remove(&mut self, key: &str) -> Option<Value> {
        let at = self.get_index_of(key)?;
        let own = self.own();
        let (_, value) = own.entries.remove(at);
        own.make_index();
        Some(value)
    }

    /// Keeps the first `count` members.
    pub fn truncate(&mut self, count: usize) {
        if count < self.len() {
            let own = self.own();
            own.entries.truncate(count);
            own.make_index();
        }
    }

    /// Keeps the members for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&Key, &mut Value) -> bool) {
        if self.is_empty() {
            return;
        }
        let own = self.own();
        let before = own.entries.len();
        own.entries.retain(|(key, value)| keep(key, value));
        if own.entries.len() < before {
            own.make_index();
        }
    }

    /// The names.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Key> + ExactSizeIterator + Clone {
        self.entries().iter().map(|(key, _)| key)
    }

    /// The values.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator + Clone {
        self.entries().iter().map(|(_, value)| value)
    }

    /// The values, to be changed.
    pub fn values_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = &mut Value> + ExactSizeIterator {
        self.entries_mut().iter_mut().map(|(_, value)| value)
    }

    /// The values alone.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// The members.
    pub fn iter(&self) -> Iter<'_> {
        fn apart((key, value): &(Key, Value)) -> (&Key, &Value) {
            (key, value)
        }
        self.entries().iter().map(apart)
    }

    /// The members, their values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        fn apart((key, value): &mut (Key, Value)) -> (&Key, &mut Value) {
            (key, value)
        }
        self.entries_mut().iter_mut().map(apart)
    }
}

/// The members of a [`Map`].
pub type Iter<'m> = std::iter::Map<
    std::slice::Iter<'m, (Key, Value)>,
    fn(&'m (Key, Value)) -> (&'m Key, &'m Value),
>;

/// The members of a [`Map`], their values to be changed.
pub type IterMut<'m> = std::iter::Map<
    std::slice::IterMut<'m, (Key, Value)>,
    fn(&'m mut (Key, Value)) -> (&'m Key, &'m mut Value),
>;

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m Key, &'m Value);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'m> IntoIterator for &'m mut Map {
    type Item = (&'m Key, &'m mut Value);
    type IntoIter = IterMut<'m>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = (Key, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.into_entries().into_iter())
    }
}

/// The members of a [`Map`] that is used up.
#[derive(Debug)]
pub struct IntoIter(smallvec::IntoIter<[(Key, Value); FIRST]>);

impl Iterator for IntoIter {
    type Item = (Key, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for IntoIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for IntoIter {}

impl<K: Into<Key>> Extend<(K, Value)> for Map {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, members: I) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}

impl<K: Into<Key>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let members = members.into_iter();
        let mut map = Self::with_capacity(members.size_hint().0);
        map.extend(members);
        map
    }
}

impl<K: Into<Key>, const N: usize> From<[(K, Value); N]> for Map {
    fn from(members: [(K, Value); N]) -> Self {
        members.into_iter().collect()
    }
}

/// # Panics
///
/// When there is no such member.
impl Index<&str> for Map {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key)
            .unwrap_or_else(|| panic!("there is no member `{key}`"))
    }
}

/// # Panics
///
/// When there are not so many members.
impl Index<usize> for Map {
    type Output = Value;

    fn index(&self, at: usize) -> &Value {
        &self.entries()[at].1
    }
}

/// # Panics
///
/// When there are not so many members.
impl IndexMut<usize> for Map {
    fn index_mut(&mut self, at: usize) -> &mut Value {
        &mut self.entries_mut()[at].1
    }
}

/// The order does not matter.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.shares(other)
            || self.len() == other.len()
                && self
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|same| same == value))
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Map, SMALL, Value};

    fn numbered(count: i64) -> Map {
        (0..count)
            .map(|number| (number.to_string(), Value::from(number)))
            .collect()
    }

    /// Every member is found where it is, and nothing else is.
    fn is_sound(map: &Map) {
        for (at, (key, value)) in map.iter().enumerate() {
            assert_eq!(map.get_index_of(key), Some(at), "{key}");
            assert_eq!((map.get(key), &map[at]), (Some(value), value));
        }
        let index = map
            .members
            .iter()
            .find_map(|members| members.index.as_ref());
        assert_eq!(index.is_some(), map.len() > SMALL);
        assert!(index.is_none_or(|index| index.len() == map.len()));
        assert!(!map.contains_key("none"));
    }

    #[test]
    fn small_and_large_ones_are_alike() {
        for count in 0..3 * SMALL as i64 {
            let mut map = numbered(count);
            is_sound(&map);
            map.insert("0", Value::Null);
            map.insert("last", Value::Null);
            is_sound(&map);
            assert_eq!(map.get_index_of("0"), Some(0));
            map.shift_insert(0, "last", Value::from("first"));
            is_sound(&map);
            assert_eq!(map.keys().next().map(Key::as_str), Some("last"));
            assert_eq!(map.shift_remove("0"), Some(Value::Null));
            assert_eq!(map.shift_remove("0"), None);
            is_sound(&map);
            map.retain(|key, _| key.len() < 2);
            is_sound(&map);
        }
    }

    #[test]
    fn equal_whatever_the_order() {
        for count in [3, 30] {
            let map = numbered(count);
            let mut other: Map = map.clone().into_iter().rev().collect();
            assert_eq!(map, other);
            other.insert("0", Value::Null);
            assert_ne!(map, other);
            assert_ne!(map, numbered(count - 1));
        }
    }

    #[test]
    fn a_copy_that_is_changed_leaves_the_other_as_it_was() {
        for count in [0, 1, 3, 30] {
            let map = numbered(count);
            let changes: [fn(&mut Map); 8] = [
                |map| drop(map.insert("new", Value::Null)),
                |map| drop(map.shift_remove("0")),
                |map| map.truncate(0),
                |map| map.retain(|_, _| false),
                |map| map.values_mut().for_each(|value| *value = Value::Null),
                |map| map.shift_insert(0, "0", Value::Null),
                |map| *map.get_or_insert_null("0") = Value::Null,
                |map| map.extend([("0", Value::Null)]),
            ];
            for change in changes {
                let mut copy = map.clone();
                assert!(copy.shares(&map));
                change(&mut copy);
                is_sound(&copy);
                is_sound(&map);
                let before = numbered(count);
                assert!(map.is_identical(&before), "{map:?}");
            }
        }
    }

    #[test]
    fn a_value_is_four_words() {
        assert_eq!(size_of::<Value>(), 4 * size_of::<usize>());
    }
}
