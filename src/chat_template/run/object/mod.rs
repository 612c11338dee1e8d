//! The values of a render: Python's, as far as templates can make or meet them.

mod containers;
mod key;
mod scope;
mod taint;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

pub(super) use self::containers::{Dict, List, OrderedMap, ReadPath};
pub(super) use self::key::Key;
pub(super) use self::scope::Scope;
use super::trace::{Taint, Text};
use crate::value::Integer;

/// A Python value. Where origins are traced, a string knows its pieces, and what has no text or parts of its own from which
/// inputs it was made.
#[derive(Debug, Clone)]
pub(super) enum Py {
    Undefined(Rc<Missing>, Taint),
    None(Taint),
    Bool(bool, Taint),
    Int(i64, Taint),
    /// An integer outside `i64`.
    Big(Rc<Integer>, Taint),
    Float(f64, Taint),
    Str(Text),
    /// The result of `safe` and `escape`: a string that escapes what is added to it.
    Markup(Text),
    List(Rc<List>),
    Tuple(Rc<List>),
    Dict(Rc<Dict>),
    Range(i64, i64, i64, Taint),
    /// `dict.keys()`, `.values()` and `.items()`.
    View(View, Rc<Dict>),
    /// The result of filters such as `map`: it can be walked once.
    Generator(Rc<RefCell<VecDeque<Py>>>, Taint),
    Namespace(Rc<Attributes>),
    Loop(Rc<LoopState>),
    /// The macro of that index, with the scope it was defined in.
    Macro(usize, Rc<Scope>),
    Method(Rc<(Py, Rc<str>)>),
    Global(Global),
    Cycler(Rc<(Vec<Py>, RefCell<usize>)>),
    Joiner(Rc<(Text, RefCell<bool>)>),
}

/// The attributes of a namespace.
pub(super) type Attributes = RefCell<OrderedMap<Rc<str>, Py>>;

/// Why something is undefined.
#[derive(Debug)]
pub(super) enum Missing {
    Name(Rc<str>),
    Attr(String, String),
    Unsafe(String, String),
    Nothing(&'static str),
}

impl Missing {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}` is undefined"),
            Self::Attr(of, name) => format!("a `{of}` has no attribute or item {name}"),
            Self::Unsafe(of, name) => {
                format!("the attribute `{name}` of a `{of}` is out of bounds for chat templates")
            }
            Self::Nothing(why) => (*why).to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Keys,
    Values,
    Items,
}

/// Functions that every template can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    Range,
    Dict,
    DictFromKeys,
    Namespace,
    RaiseException,
    StrftimeNow,
    Lipsum,
    Cycler,
    Joiner,
}

/// Where a loop has its items from, beside those that it came to.
#[derive(Debug)]
pub(super) enum Rest {
    /// The loop has no other items.
    Nothing,
    /// Items that are taken off one by one. A second walk over the same generator takes them too.
    Queue(Rc<RefCell<VecDeque<Py>>>),
    /// The items of a container that may change while the loop runs.
    Live(Box<Live>),
}

/// A walk over a container that may change.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) container: Py,
    /// How many items were taken.
    pub(super) taken: Cell<usize>,
    /// How many there were at first.
    pub(super) len: usize,
    /// How many there were when the loop was asked for its length.
    pub(super) length: Cell<Option<usize>>,
}

/// A loop as its body sees it.
#[derive(Debug)]
pub(super) struct LoopState {
    /// The items that were come to, or looked ahead at.
    pub(super) items: RefCell<Vec<Py>>,
    /// The items beside them, where that is not known at once; not all of it need be items of the loop.
    pub(super) rest: Rest,
    /// Which of the loops that leave items out it is.
    pub(super) filter: Option<usize>,
    pub(super) index: RefCell<usize>,
    pub(super) depth: usize,
    /// The arguments with which `changed` was asked last, and the inputs of all that it was asked.
    pub(super) changed: RefCell<Option<(Vec<Py>, Taint)>>,
    /// The address of the statement that calling the loop runs again, for a recursive one.
    pub(super) recursive: Option<usize>,
}

impl LoopState {
    /// How many items the container has that may change while the loop runs over all of it. Jinja asks once.
    pub(super) fn live_len(&self) -> Option<usize> {
        match &self.rest {
            Rest::Live(live) if self.filter.is_none() => {
                if live.length.get().is_none() {
                    live.length.set(live.container.len());
                }
                live.length.get()
            }
            _ => None,
        }
    }
}

impl Py {
    pub(super) const NONE: Self = Self::None(Taint::NONE);

    pub(super) fn str(text: &str) -> Self {
        Self::Str(Text::plain(text))
    }

    pub(super) fn bool(value: bool) -> Self {
        Self::Bool(value, Taint::NONE)
    }

    pub(super) fn float(value: f64) -> Self {
        Self::Float(value, Taint::NONE)
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::list_of(items, Taint::NONE)
    }

    /// A list whose number and order of items was made from these inputs.
    pub(super) fn list_of(items: Vec<Self>, shape: Taint) -> Self {
        Self::List(Rc::new(List::new(items, None, shape.derived())))
    }

    pub(super) fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Self::tuple_of(items, Taint::NONE)
    }

    pub(super) fn tuple_of(items: impl IntoIterator<Item = Self>, shape: Taint) -> Self {
        let items = items.into_iter().collect();
        Self::Tuple(Rc::new(List::new(items, None, shape.derived())))
    }

    /// Makes a group of the filter `groupby`: a tuple whose items are named `grouper` and `list`.
    pub(super) fn group(grouper: Self, members: Vec<Self>, shape: Taint) -> Self {
        let items = [grouper, Self::list_of(members, shape)];
        Self::Tuple(Rc::new(List::group(items, shape.derived())))
    }

    pub(super) fn dict(items: OrderedMap<Key, Self>) -> Self {
        Self::dict_of(items, Taint::NONE)
    }

    pub(super) fn dict_of(items: OrderedMap<Key, Self>, shape: Taint) -> Self {
        Self::Dict(Rc::new(Dict::new(items, None, shape.derived())))
    }

    pub(super) fn generator(items: Vec<Self>, shape: Taint) -> Self {
        Self::Generator(Rc::new(RefCell::new(items.into())), shape.derived())
    }

    pub(super) fn missing(why: Missing) -> Self {
        Self::missing_of(why, Taint::NONE)
    }

    /// Something that is not there because of these inputs.
    pub(super) fn missing_of(why: Missing, taint: Taint) -> Self {
        Self::Undefined(Rc::new(why), taint.derived())
    }

    /// An integer; `None` beyond what can be calculated with.
    pub(super) fn int(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self::Int(value, Taint::NONE),
            Err(_) => Integer::from_digits(&value.to_string())
                .map_or(Self::NONE, |big| Self::Big(Rc::new(big), Taint::NONE)),
        }
    }

    /// The value with other inputs from which it was made, for one that has no text or parts of its own.
    pub(super) fn with_taint(self, taint: Taint) -> Self {
        match self {
            Self::Undefined(why, _) => Self::Undefined(why, taint),
            Self::None(_) => Self::None(taint),
            Self::Bool(value, _) => Self::Bool(value, taint),
            Self::Int(value, _) => Self::Int(value, taint),
            Self::Big(value, _) => Self::Big(value, taint),
            Self::Float(value, _) => Self::Float(value, taint),
            Self::Range(start, stop, step, _) => Self::Range(start, stop, step, taint),
            other => other,
        }
    }

    /// Returns true if a value has neither text nor parts, so that it knows itself all the inputs from which it was made.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Undefined(..)
                | Self::None(_)
                | Self::Bool(..)
                | Self::Int(..)
                | Self::Big(..)
                | Self::Float(..)
                | Self::Range(..)
        )
    }

    /// The value, a plain string where it is markup.
    pub(super) fn plain(self) -> Self {
        match self {
            Self::Markup(text) => Self::Str(text),
            other => other,
        }
    }

    /// The value, markup where it is a string.
    pub(super) fn marked_up(self) -> Self {
        match self {
            Self::Str(text) => Self::Markup(text),
            other => other,
        }
    }

    /// The text of a string.
    pub(super) fn into_text(self) -> Text {
        match self {
            Self::Str(text) | Self::Markup(text) => text,
            _ => Text::plain(""),
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) | Self::Markup(text) => Some(text),
            _ => None,
        }
    }

    /// The value of an `int` or `bool`.
    pub(super) fn as_int(&self) -> Option<i128> {
        match self {
            Self::Bool(value, _) => Some(i128::from(*value)),
            Self::Int(value, _) => Some(i128::from(*value)),
            Self::Big(value, _) => value.to_string().parse().ok(),
            _ => None,
        }
    }

    /// The value of a number as a double.
    pub(super) fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value, _) => Some(*value),
            Self::Big(value, _) => value.to_string().parse().ok(),
            #[allow(clippy::cast_precision_loss, reason = "as Python rounds")]
            other => other.as_int().map(|value| value as f64),
        }
    }

    pub(super) fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined(..))
    }

    /// The name of the type as Python spells it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined(..) => "Undefined",
            Self::None(_) => "NoneType",
            Self::Bool(..) => "bool",
            Self::Int(..) | Self::Big(..) => "int",
            Self::Float(..) => "float",
            Self::Str(_) => "str",
            Self::Markup(_) => "Markup",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Range(..) => "range",
            Self::View(View::Keys, _) => "dict_keys",
            Self::View(View::Values, _) => "dict_values",
            Self::View(View::Items, _) => "dict_items",
            Self::Generator(..) => "generator",
            Self::Namespace(_) => "TemplateNamespace",
            Self::Loop(_) => "LoopContext",
            Self::Macro(..) => "Macro",
            Self::Method(_) | Self::Global(_) => "method",
            Self::Cycler(_) => "Cycler",
            Self::Joiner(_) => "Joiner",
        }
    }

    /// How deep values nest in it. Namespaces count for one: what they hold is dropped by itself.
    pub(super) fn depth(&self) -> usize {
        let deepest =
            |items: &mut dyn Iterator<Item = &Self>| items.map(Self::depth).max().unwrap_or(0);
        match self {
            Self::List(list) | Self::Tuple(list) => list.depth(),
            Self::Dict(dict) => dict.depth(),
            Self::View(_, dict) => 1 + dict.depth(),
            Self::Generator(items, _) => 1 + deepest(&mut items.borrow().iter()),
            Self::Loop(state) => 1 + deepest(&mut state.items.borrow().iter()),
            Self::Cycler(state) => 1 + deepest(&mut state.0.iter()),
            Self::Method(method) => 1 + method.0.depth(),
            _ => 1,
        }
    }

    /// Its truth, as `if` asks for it.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Undefined(..) | Self::None(_) => false,
            Self::Bool(value, _) => *value,
            Self::Int(value, _) => *value != 0,
            Self::Float(value, _) => *value != 0.0,
            Self::Str(text) | Self::Markup(text) => !text.is_empty(),
            Self::List(list) | Self::Tuple(list) => list.len() > 0,
            Self::Dict(dict) | Self::View(_, dict) => dict.len() > 0,
            Self::Range(..) => self.len().is_some_and(|len| len > 0),
            _ => true,
        }
    }

    /// Its length, as `len()` gives it; `None` for a value without one.
    pub(super) fn len(&self) -> Option<usize> {
        Some(match self {
            Self::Undefined(..) => 0,
            Self::Str(text) => text.chars().count(),
            Self::List(list) | Self::Tuple(list) => list.len(),
            Self::Dict(dict) | Self::View(_, dict) => dict.len(),
            Self::Range(start, stop, step, _) => {
                let (start, stop, step) =
                    (i128::from(*start), i128::from(*stop), i128::from(*step));
                let count = if step > 0 {
                    (stop - start + step - 1) / step
                } else {
                    (start - stop - step - 1) / -step
                };
                usize::try_from(count.max(0)).unwrap_or(usize::MAX)
            }
            Self::Loop(state) => state.items.borrow().len(),
            _ => return None,
        })
    }

    /// Python's `==`. What it looks at is taken off `steps`; when none are left the answer means nothing.
    pub(super) fn equals(&self, other: &Self, steps: &mut u64) -> bool {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        let mut all = |a: &[Self], b: &[Self]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b, steps))
        };
        match (self, other) {
            (Self::Undefined(..), Self::Undefined(..)) | (Self::None(_), Self::None(_)) => true,
            (Self::Str(a), Self::Str(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                *steps = steps.saturating_sub(a.len() as u64 / 64);
                a == b
            }
            (Self::Big(a, _), Self::Big(b, _)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                all(&a.items(), &b.items())
            }
            (Self::Dict(a), Self::Dict(b)) => {
                let (a, b) = (a.items(), b.items());
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        b.get(key).is_some_and(|other| value.equals(other, steps))
                    })
            }
            (Self::Range(a, b, c, _), Self::Range(x, y, z, _)) => {
                let len = self.len();
                len == other.len()
                    && (len == Some(0) || (a == x && (len == Some(1) || (b, c) == (y, z))))
            }
            (Self::Namespace(a), Self::Namespace(b)) => Rc::ptr_eq(a, b),
            (Self::Generator(a, _), Self::Generator(b, _)) => Rc::ptr_eq(a, b),
            (Self::Macro(a, x), Self::Macro(b, y)) => a == b && Rc::ptr_eq(x, y),
            (Self::Global(a), Self::Global(b)) => a == b,
            (Self::View(a, x), Self::View(b, y)) if a == b && *a != View::Values => {
                Self::Dict(x.clone()).equals(&Self::Dict(y.clone()), steps)
            }
            _ => match (self.as_int(), other.as_int()) {
                (Some(a), Some(b)) => a == b,
                _ => match (self, other) {
                    (Self::Float(a, _), other) => other.as_float().is_some_and(|b| *a == b),
                    (other, Self::Float(b, _)) => other.as_float().is_some_and(|a| a == *b),
                    _ => false,
                },
            },
        }
    }
}
