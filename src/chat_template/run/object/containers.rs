//! Lists and dictionaries. Values that are the same list share it, so that what one changes the others see.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::Py;
use super::key::{Key, StrKey};
use crate::chat_template::run::fault::Fault;
use crate::chat_template::run::trace::Taint;

/// The path under which it is told what was read of a container of the inputs, with list indices folded.
#[derive(Debug)]
pub(in crate::chat_template::run) struct ReadPath {
    pub(in crate::chat_template::run) path: String,
    pub(in crate::chat_template::run) role: Option<String>,
}

/// A map that keeps its order. Its hash is quick, and seeded: keys come from requests.
pub(in crate::chat_template::run) type OrderedMap<K, V> = IndexMap<K, V, RandomState>;

/// A list or a tuple.
pub(in crate::chat_template::run) type List = Container<Vec<Py>>;

/// A dictionary.
pub(in crate::chat_template::run) type Dict = Container<OrderedMap<Key, Py>>;

/// Items, and what is known of them as a whole.
#[derive(Debug, Default)]
pub(in crate::chat_template::run) struct Container<T> {
    items: RefCell<T>,
    pub(in crate::chat_template::run) read: Option<Rc<ReadPath>>,
    /// The inputs that decide how many items it has and in which order, or which keys.
    shape: Cell<Taint>,
    /// How deep values nest in it, itself included. What was put into what it holds since does not count.
    depth: Cell<u16>,
    /// How many containers it stands in, as far as that came about by putting something into one.
    level: Cell<u16>,
    /// True if the render empties it at its end.
    is_kept: Cell<bool>,
    /// This is true for a tuple that the filter `groupby` makes, whose two items have names.
    is_group: bool,
}

fn deepest<'v>(values: impl IntoIterator<Item = &'v Py>) -> usize {
    values.into_iter().map(Py::depth).max().unwrap_or(0)
}

/// Nesting is cut off long before it is too deep for this.
fn narrow(depth: usize) -> u16 {
    u16::try_from(depth).unwrap_or(u16::MAX)
}

impl List {
    pub(in crate::chat_template::run) fn new(
        items: Vec<Py>,
        read: Option<Rc<ReadPath>>,
        shape: Taint,
    ) -> Self {
        let depth = 1 + deepest(&items);
        Self::of(items, read, shape, depth)
    }

    /// Makes a group of two items: the attribute that its members have in common, and the list of them.
    pub(in crate::chat_template::run) fn group(items: [Py; 2], shape: Taint) -> Self {
        Self {
            is_group: true,
            ..Self::new(items.into(), None, shape)
        }
    }

    /// Returns true for a tuple whose items have the names of a group.
    pub(in crate::chat_template::run) fn is_group(&self) -> bool {
        self.is_group
    }

    pub(in crate::chat_template::run) fn len(&self) -> usize {
        self.items.borrow().len()
    }
}

impl Dict {
    pub(in crate::chat_template::run) fn new(
        items: OrderedMap<Key, Py>,
        read: Option<Rc<ReadPath>>,
        shape: Taint,
    ) -> Self {
        let depth = 1 + deepest(items.values()).max(deepest(items.keys().map(|key| &key.0)));
        Self::of(items, read, shape, depth)
    }

    pub(in crate::chat_template::run) fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// The value under a string.
    pub(in crate::chat_template::run) fn get_str(&self, key: &str) -> Option<Py> {
        self.items.borrow().get(&StrKey(key)).cloned()
    }
}

impl<T> Container<T> {
    fn of(items: T, read: Option<Rc<ReadPath>>, shape: Taint, depth: usize) -> Self {
        Self {
            items: RefCell::new(items),
            read,
            shape: Cell::new(shape),
            depth: Cell::new(narrow(depth)),
            level: Cell::new(0),
            is_kept: Cell::new(false),
            is_group: false,
        }
    }

    /// Its items. Nothing may be evaluated that could change it while this is looked at.
    pub(in crate::chat_template::run) fn items(&self) -> Ref<'_, T> {
        self.items.borrow()
    }

    /// Its items, to be changed; an error while it is looked at.
    pub(in crate::chat_template::run) fn items_mut(&self) -> Result<RefMut<'_, T>, Fault> {
        self.items
            .try_borrow_mut()
            .map_err(|_| Fault::error("a container is changed while it is walked over"))
    }

    pub(in crate::chat_template::run) fn shape(&self) -> Taint {
        self.shape.get()
    }

    pub(in crate::chat_template::run) fn depth(&self) -> usize {
        usize::from(self.depth.get())
    }

    pub(in crate::chat_template::run) fn level(&self) -> usize {
        usize::from(self.level.get())
    }

    /// Notes that the container was changed because of these inputs, which are to hold those noted before as well.
    pub(in crate::chat_template::run) fn set_shape(&self, shape: Taint) {
        self.shape.set(shape.derived());
    }

    /// Notes that it holds values that nest at least so deep, itself included.
    pub(in crate::chat_template::run) fn deepen(&self, depth: usize) {
        self.depth.set(self.depth.get().max(narrow(depth)));
    }

    /// Notes that it stands in at least so many containers.
    pub(in crate::chat_template::run) fn sink(&self, level: usize) {
        self.level.set(self.level.get().max(narrow(level)));
    }

    /// Marks it as one that the render empties at its end, and returns true if it was not marked before.
    pub(in crate::chat_template::run) fn keep(&self) -> bool {
        !self.is_kept.replace(true)
    }
}
