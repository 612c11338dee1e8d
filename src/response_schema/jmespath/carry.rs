//! JMESPath expressions as transforms of response templates, as far as transforms can do what they do: members by their names, objects and
//! lists of them, constants, and one projection over a list of objects.

use super::Ast;
use crate::value::{Map, Value};

pub(super) fn carry(ast: &Ast) -> Result<(Option<Value>, bool), String> {
    match ast {
        Ast::Current => Ok((None, false)),
        Ast::Projection(nodes) => {
            let over_all = match &nodes[0] {
                Ast::Current => true,
                Ast::Flatten(inner) => **inner == Ast::Current,
                _ => false,
            };
            if !over_all {
                return Err("a projection over a part of the value".to_owned());
            }
            match &nodes[1] {
                Ast::Current => Ok((None, false)),
                each => Ok((Some(template(each, "")?), true)),
            }
        }
        other => Ok((Some(template(other, "content")?), false)),
    }
}

/// The transform; `scope` is the name under which the value stands, empty where its members are in scope themselves.
fn template(ast: &Ast, scope: &str) -> Result<Value, String> {
    let path = |names: &[&str]| {
        let all = [scope].into_iter().chain(names.iter().copied());
        let all: Vec<&str> = all.filter(|name| !name.is_empty()).collect();
        let plain = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if all.is_empty() || !all.iter().all(plain) {
            return Err("a member whose name a placeholder cannot spell".to_owned());
        }
        Ok(Value::from(format!("{{{}}}", all.join("."))))
    };
    match ast {
        Ast::Current if scope.is_empty() => Err("an item as a whole".to_owned()),
        Ast::Current => path(&[]),
        Ast::Field(name) => path(&[name]),
        Ast::Chain {
            nodes,
            indexed: false,
        } => {
            let names: Option<Vec<&str>> = nodes
                .iter()
                .map(|node| match node {
                    Ast::Field(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            path(&names.ok_or_else(|| "a chain of more than names".to_owned())?)
        }
        Ast::Literal(value) => match value {
            Value::String(text) if text.starts_with('{') && text.ends_with('}') => {
                Err("a constant that would be a placeholder".to_owned())
            }
            value => Ok(value.clone()),
        },
        Ast::List(nodes) => {
            let items: Result<Vec<Value>, String> =
                nodes.iter().map(|node| template(node, scope)).collect();
            items.map(Value::Array)
        }
        Ast::Hash(pairs) => {
            let members: Result<Map, String> = pairs
                .iter()
                .map(|(name, node)| Ok((name.as_str(), template(node, scope)?)))
                .collect();
            members.map(Value::Object)
        }
        _ => Err("an expression that computes something".to_owned()),
    }
}

pub(super) fn fields(ast: &Ast) -> Vec<String> {
    let mut found = Vec::new();
    collect(ast, &mut found);
    found
}

fn collect(ast: &Ast, found: &mut Vec<String>) {
    match ast {
        Ast::Field(name) => found.push(name.clone()),
        // What stands behind the first name is a member of a member.
        Ast::Chain { nodes, .. } => nodes.iter().take(1).for_each(|node| collect(node, found)),
        Ast::List(nodes) | Ast::Function(_, nodes) => {
            nodes.iter().for_each(|node| collect(node, found))
        }
        Ast::Hash(pairs) => pairs.iter().for_each(|(_, node)| collect(node, found)),
        Ast::Projection(nodes) | Ast::Pipe(nodes) => {
            nodes.iter().for_each(|node| collect(node, found))
        }
        _ => {}
    }
}
