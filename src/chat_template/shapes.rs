//! The shape of the values that a template asks for beside the conversation.
//!
//! A kwarg need not be true, false or a text. `{{ response_format.type }}` asks for an object with a member `type`, and
//! `{% for document in documents %}{{ document.title }}{% endfor %}` for a list of objects with a `title`. Whoever sets such a variable to a text sees an error,
//! or nothing at all. So a walk of the template notes which members and items are asked of a variable, and what each of them is compared with,
//! and a value of that shape is worth trying. It costs no render: one look at each expression.

use crate::value::{Map, Value};

/// A text that no template is likely to know, for what may be any text.
pub(crate) const ANY_TEXT: &str = "zircon";

/// How deeply members and items are followed; a template asks for no more.
const MAX_DEPTH: usize = 4;

/// A step from a value to one within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of an object with this key.
    Key(String),
    /// Any item of a list.
    Item,
}

/// A variable from outside, and the way to something within it.
#[derive(Debug, Clone)]
pub(super) struct Place<'t> {
    pub(super) variable: &'t str,
    pub(super) path: Vec<Step>,
}

impl Place<'_> {
    /// The place one step further within.
    pub(super) fn and(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }
}

/// The members and items that a template asks of a value, and the constants that it compares the value with.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    members: Vec<(String, Shape)>,
    items: Option<Box<Shape>>,
    constants: Vec<Value>,
}

impl Shape {
    /// The shape at the end of a path, which is made where it is not known yet. `None` where the path is too long.
    pub(super) fn at(&mut self, path: &[Step]) -> Option<&mut Self> {
        if path.len() > MAX_DEPTH {
            return None;
        }
        let mut shape = self;
        for step in path {
            shape = match step {
                Step::Item => shape.items.get_or_insert_default(),
                Step::Key(key) => {
                    let known = shape.members.iter().position(|(known, _)| known == key);
                    let at = known.unwrap_or_else(|| {
                        shape.members.push((key.clone(), Self::default()));
                        shape.members.len() - 1
                    });
                    &mut shape.members[at].1
                }
            };
        }
        Some(shape)
    }

    /// Notes a constant that the value is compared with.
    pub(super) fn compared_with(&mut self, constant: Value) {
        if !self.constants.contains(&constant) {
            self.constants.push(constant);
        }
    }

    /// The values of this shape: an object or a list in which whatever is compared with nothing is any text, and after it one for each further
    /// constant of a part. Empty where nothing is asked of the value but its truth.
    pub(super) fn values(&self) -> Vec<Value> {
        match self.members.is_empty() && self.items.is_none() {
            true => Vec::new(),
            false => self.whole(),
        }
    }

    fn whole(&self) -> Vec<Value> {
        if let Some(items) = &self.items {
            let items = items.whole().into_iter();
            return items.map(|item| Value::Array(vec![item])).collect();
        }
        if self.members.is_empty() {
            let texts = self
                .constants
                .iter()
                .filter(|value| !matches!(value, Value::Null));
            let texts: Vec<Value> = texts.cloned().collect();
            return match texts.is_empty() {
                true => vec![Value::from(ANY_TEXT)],
                false => texts,
            };
        }
        let members = self.members.iter();
        let members: Vec<(&String, Vec<Value>)> =
            members.map(|(key, shape)| (key, shape.whole())).collect();
        let firsts = members.iter().filter_map(|(key, values)| {
            let first = values.first()?;
            Some(((*key).clone(), first.clone()))
        });
        let first = Map::from_iter(firsts);
        let mut wholes = vec![Value::Object(first.clone())];
        for (key, values) in &members {
            for value in values.iter().skip(1) {
                let mut other = first.clone();
                other.insert((*key).clone(), value.clone());
                wholes.push(Value::Object(other));
            }
        }
        wholes
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChatTemplate;
    use crate::value::json;

    fn shaped(source: &str, variable: &str) -> Vec<String> {
        let template = ChatTemplate::new(source).unwrap();
        template
            .shaped(variable)
            .iter()
            .map(json::to_string)
            .collect()
    }

    #[test]
    fn members_and_items_that_are_asked_for_make_a_value() {
        for (source, value) in [
            ("{{ x.type }}", r#"{"type": "zircon"}"#),
            (
                "{{ x['type'] }}{{ x.get('name') }}",
                r#"{"type": "zircon", "name": "zircon"}"#,
            ),
            (
                "{% set y = x or {} %}{{ y.a.b }}",
                r#"{"a": {"b": "zircon"}}"#,
            ),
            (
                "{% for d in x %}{{ d.title }}: {{ d['text'] }}{% endfor %}",
                r#"[{"title": "zircon", "text": "zircon"}]"#,
            ),
            (
                "{% for d in x %}{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{% endfor %}",
                r#"[{"zircon": "zircon"}]"#,
            ),
            ("{{ x | join(', ') }}", r#"["zircon"]"#),
            ("{% if 'code' in x %}{% endif %}", r#"["code"]"#),
            (
                "{% set names = x or {'user': 'U', 'assistant': 'A'} %}{{ names[m.role] }}",
                r#"{"user": "zircon", "assistant": "zircon"}"#,
            ),
            ("{% if x[0] == 'a' %}{% endif %}", r#"["a"]"#),
        ] {
            assert_eq!(shaped(source, "x"), [value], "{source}");
        }
    }

    #[test]
    fn each_constant_that_a_part_is_compared_with_is_tried() {
        let source = "{% if x.mode == 'a' or x.mode == 'b' %}{{ x.size }}{% endif %}";
        assert_eq!(
            shaped(source, "x"),
            [
                r#"{"mode": "a", "size": "zircon"}"#,
                r#"{"mode": "b", "size": "zircon"}"#
            ]
        );
    }

    #[test]
    fn a_text_that_methods_are_called_on_has_no_shape() {
        for source in [
            "{{ x.strip() }}",
            "{{ x | trim }}",
            "{% if x %}{% endif %}",
            "{{ x }}",
        ] {
            assert!(shaped(source, "x").is_empty(), "{source}");
        }
    }

    #[test]
    fn what_a_loop_takes_from_the_conversation_is_no_kwarg() {
        let source = "{% for m in messages %}{{ m.content }}{% endfor %}{{ m.content }}";
        assert!(shaped(source, "x").is_empty());
    }
}
