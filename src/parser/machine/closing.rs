//! The end of a region: its text becomes a value, and the value a part of the message.

use std::borrow::Cow;

use super::rare::{Rare, Replaceable};
use super::{Machine, Sink};
use crate::content::process_noting;
use crate::parser::error::{ErrorKind, LimitKind, ParseError};
use crate::parser::event::Event;
use crate::parser::leaked::Leaked;
use crate::parser::merge::{begun, mark, merge};
use crate::parser::options::OnError;
use crate::parser::unclaimed::UnclaimedCause;
use crate::pattern::Window;
use crate::value::Value;

impl Machine {
    /// Ends the open region and returns to the implicit field. The region's value goes into the message. The error of a region that does
    /// not parse is returned or kept, as the options ask.
    pub(super) fn close(&mut self, window: &Window<'_>, sink: Sink<'_>) -> Result<(), ParseError> {
        let closed = self.end_region(window, sink);
        match closed {
            Err(error) if self.options.on_error == OnError::Keep && !error.is_final() => {
                let error = Box::new(error);
                if let Some(field) = &error.field {
                    sink.event(Event::RegionError {
                        field: Cow::Borrowed(field),
                        error: Cow::Borrowed(&error),
                    });
                }
                self.rare_mut().malformed.push(*error);
                Ok(())
            }
            closed => closed,
        }
    }

    fn end_region(&mut self, window: &Window<'_>, sink: Sink<'_>) -> Result<(), ParseError> {
        // The parts are taken one by one, since moving the whole region would cost more than all of this.
        let forgets = self.region.field.is_some_and(|index| self.forgets(index));
        let region = &mut self.region;
        let open = std::mem::replace(&mut region.field, self.template.implicit());
        let opened = std::mem::take(&mut region.opened);
        let (Some(index), true) = (open, opened) else {
            return Ok(());
        };
        // Where delimiters in strings do not count, the model may write about markers there, so that none are looked for.
        let markers = self.rare.as_ref().and_then(|rare| rare.markers.as_ref());
        let markers = markers.filter(|_| region.strings.is_none());
        region.strings = None;
        let captures = std::mem::take(&mut region.captures);
        let field = &self.template.fields()[index];
        self.closed += 1;
        let span = region.start..region.end;
        let rest = window.slice(region.kept_to()..region.end);
        let given = std::mem::take(&mut region.given);
        let mut body = Cow::Borrowed(rest);
        if !region.body.is_empty() {
            region.body.push_str(rest);
            body = Cow::Owned(std::mem::take(&mut region.body));
        }
        region.start = region.end;
        let prefix_len = self.prefix_len;
        let found =
            markers.map(|all| all.leaked(&field.name, &body, span.start + given, prefix_len));
        let mut leaked: Vec<Leaked> = found.into_iter().flatten().collect();
        leaked.sort_by_key(|one| one.span.start);
        let broken = |error: ParseError, raw: &str| ParseError {
            field: Some(field.name.to_string()),
            span: Some(span.start.saturating_sub(prefix_len)..span.end.saturating_sub(prefix_len)),
            raw: Some(raw.into()),
            ..error
        };
        if self.closed > self.options.limits.regions {
            let message = format!(
                "there are more than {} regions",
                self.options.limits.regions
            );
            let error = ParseError {
                hint: Some(
                    "a response with so many repeats itself, or a delimiter takes too little at once"
                        .to_owned(),
                ),
                ..ParseError::new(ErrorKind::Limit(LimitKind::Regions), message)
            };
            return Err(broken(error, &body));
        }
        let replaces = field.join.is_none() && !field.repeats;
        let mut passed_over = Vec::new();
        // Where the end closes a region, that is noted before.
        let is_cut = self.rare().unended.is_some();
        let is_text = field.transform.is_none() && field.content.is_text();
        let mut replaceable = (replaces && !self.options.forget).then_some(Replaceable {
            field: index,
            start: span.start,
            text: None,
        });
        let parsed = match &field.transform {
            // The chunks have told all of its text, and nothing of it was kept.
            _ if forgets => Ok(Value::from("")),
            None if is_text && replaces => {
                let (stripped, value) = field.content.text(std::mem::take(&mut body));
                if let Some(replaceable) = &mut replaceable {
                    replaceable.start += stripped;
                }
                Ok(value)
            }
            _ => process_noting(
                &body,
                &field.content,
                field.transform.as_ref(),
                field.transform_each,
                captures,
                is_cut,
                &mut |span| passed_over.push(span),
            ),
        };
        if let Ok(value) = &parsed
            && !field.content.is_text()
        {
            // Markers that the content parser took for structure have not leaked.
            leaked.retain(|one| one.stands_in(value));
            // Of tags the same markers stand around each value.
            if !leaked.is_empty()
                && let Some(values) = field.content.spans_of_tags(&body)
            {
                leaked.retain(|one| {
                    let start = one.span.start + prefix_len - span.start;
                    let end = start + one.span.len();
                    values
                        .iter()
                        .any(|span| span.start <= start && end <= span.end)
                });
            }
        }
        if !leaked.is_empty() {
            Rare::of(&mut self.rare).leaked.append(&mut leaked);
        }
        let value =
            parsed.map_err(|error| broken(ParseError::content(&field.name, &error), &body))?;
        let value = self.tools.coerce(value);
        for passed in passed_over {
            let text = &body[passed.clone()];
            let start = span.start + passed.start;
            let account = &mut Rare::of(&mut self.rare).unclaimed;
            account.drop(
                &field.name,
                UnclaimedCause::PassedOver,
                start,
                text,
                prefix_len,
            );
        }
        if let Some(new) = replaceable {
            let rare = Rare::of(&mut self.rare);
            match rare.replaceable.iter_mut().find(|one| one.field == index) {
                None => rare.replaceable.push(new),
                Some(one) => {
                    let old = std::mem::replace(one, new);
                    let in_message = self.message.as_ref().and_then(|all| all.get(&field.name));
                    let text = old.text.as_deref().or(in_message.and_then(Value::as_str));
                    let text = text.unwrap_or_default();
                    let account = &mut rare.unclaimed;
                    account.drop(
                        &field.name,
                        UnclaimedCause::Replaced,
                        old.start,
                        text,
                        prefix_len,
                    );
                }
            }
        }
        let message = begun(&mut self.message, &self.template);
        let merged = match self.options.forget {
            true => mark(message, field, &value).map(|()| Cow::Owned(value)),
            false => merge(message, field, value),
        };
        let merged = merged.map_err(|message| {
            let message = format!("field '{}': {message}", field.name);
            broken(ParseError::new(ErrorKind::Merge, message), &body)
        });
        if replaces && !is_text && !self.options.forget {
            // Only now, when nobody needs it any more, so that the text is not there twice.
            let all = self.rare.as_mut().map(|rare| &mut rare.replaceable);
            let mut own = all.into_iter().flatten().filter(|one| one.field == index);
            if let Some(one) = own.next() {
                one.text = Some(body.into_owned());
            }
        }
        let value = merged?;
        sink.event(Event::RegionClose {
            field: Cow::Borrowed(&field.name),
            value,
        });
        Ok(())
    }
}
