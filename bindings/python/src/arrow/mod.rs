//! Record batches in, record batches out, by the Arrow C data interface: nothing of a data set becomes an object of Python.
//!
//! Each function gives back what it was given, with columns added. A row that fails has null in them and says why in the column of errors.

mod columns;
mod values;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use obverse::conversation::spans;
use obverse::parser;
use obverse::value::{Map, Value, json};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use pyo3_arrow::input::AnyRecordBatch;

use crate::conversation::{Characters, Chat, input_of};
use crate::{errors, template, threads};
use columns::{Pairs, Ranges, Texts, added, masks, ranges, spelled_out, strings};
use values::Values;

/// What is wrong with what was given: a column that is missing or of another type.
fn wrong(message: String) -> PyErr {
    PyTypeError::new_err(message)
}

/// The batches with what the work makes of each of them.
fn each(
    data: AnyRecordBatch,
    work: impl Fn(&RecordBatch) -> PyResult<RecordBatch>,
) -> PyResult<PyTable> {
    let (batches, schema) = data.into_table()?.into_inner();
    // Without rows there are the columns all the same.
    let batches = match batches.is_empty() {
        true => vec![RecordBatch::new_empty(schema)],
        false => batches,
    };
    let done: Vec<RecordBatch> = batches.iter().map(work).collect::<PyResult<_>>()?;
    let schema = done[0].schema();
    PyTable::try_new(done, schema)
}

/// A column by its name, which no other one may have.
fn column<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<&'b ArrayRef> {
    let schema = batch.schema();
    let fields = schema.fields().iter();
    let names: Vec<&str> = fields.map(|field| field.name().as_str()).collect();
    let mut found = (0..names.len()).filter(|at| names[*at] == name);
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(batch.column(at)),
        (Some(_), Some(_)) => Err(PyValueError::new_err(format!(
            "several columns are called {name:?}"
        ))),
        (None, _) => Err(PyValueError::new_err(format!(
            "there is no column {name:?}; there are {names:?}"
        ))),
    }
}

fn texts<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<Texts<'b>> {
    Texts::of(column(batch, name)?, name).map_err(wrong)
}

/// A column of lists, each a list of structs or the text of a JSON array; null is none.
fn lists<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<Values<'b>> {
    Values::of(column(batch, name)?, name).map_err(wrong)
}

fn as_list(value: Value, name: &str) -> Result<Option<Vec<Value>>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => Ok(Some(items)),
        other => Err(format!("{name} must be a list, not {}", other.type_name())),
    }
}

/// The messages of the responses in a column.
#[pyfunction]
#[pyo3(signature = (data, template, *, response, prefix, tools, schemas, message, error, threads))]
#[allow(
    clippy::too_many_arguments,
    reason = "the options of the function in Python"
)]
pub(crate) fn arrow_parse(
    py: Python<'_>,
    data: AnyRecordBatch,
    template: &Bound<'_, PyAny>,
    response: &str,
    prefix: Option<&str>,
    tools: Option<&str>,
    schemas: Option<&Bound<'_, PyAny>>,
    message: &str,
    error: Option<&str>,
    threads: Option<isize>,
) -> PyResult<PyTable> {
    let template = template::given(template)?;
    let schemas = crate::parser::schemas(schemas)?;
    each(data, |batch| {
        let names: Vec<&str> = [Some(response), prefix, tools]
            .into_iter()
            .flatten()
            .collect();
        let read = spelled_out(batch, &names).map_err(wrong)?;
        let responses = texts(&read, response)?;
        let prefixes = prefix.map(|name| texts(&read, name)).transpose()?;
        let tools = tools
            .map(|name| Ok::<_, PyErr>((name, lists(&read, name)?)))
            .transpose()?;
        let parse = |row: usize| -> Result<Option<String>, Failed> {
            let Some(response) = responses.get(row) else {
                return Ok(None);
            };
            let prefix = prefixes.as_ref().and_then(|prefixes| prefixes.get(row));
            let own = match &tools {
                Some((name, tools)) => tools.get(row).and_then(|value| as_list(value, name)),
                None => Ok(None),
            };
            let own = own.map_err(Failed::Other)?;
            let tools = own.as_deref().unwrap_or(&schemas);
            let template = Arc::clone(&template);
            let parsed =
                parser::parse_response(response, template, prefix.unwrap_or_default(), tools);
            let message = parsed.map_err(|error| Failed::Response(Box::new(error)))?;
            Ok(Some(json::to_string(&Value::Object(message))))
        };
        let done = spread(py, batch, threads, error, &parse)?;
        let (messages, failures) = apart(done);
        added(
            batch,
            [(message, strings(&messages).map_err(wrong)?)],
            error,
            &failures,
        )
        .map_err(wrong)
    })
}

/// Why a row has no result.
enum Failed {
    Response(Box<parser::ParseError>),
    /// A conversation that does not render, or a value that is not what it must be.
    Other(String),
}

impl Failed {
    fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Response(error) => errors::parse(py, error),
            Self::Other(message) => errors::render(py, message),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Response(error) => error.to_string(),
            Self::Other(message) => message.clone(),
        }
    }
}

/// Does the work for each row with the interpreter released. Without a column for errors the first is raised.
fn spread<T: Send>(
    py: Python<'_>,
    batch: &RecordBatch,
    threads: Option<isize>,
    error: Option<&str>,
    work: &(dyn Fn(usize) -> Result<Option<T>, Failed> + Sync),
) -> PyResult<Vec<Result<Option<T>, Failed>>> {
    let stops = error.is_none();
    let done = threads::spread(py, batch.num_rows(), threads, stops, work)?;
    let failed = done.iter().find_map(|one| one.as_ref().err());
    match failed.filter(|_| stops) {
        Some(failed) => Err(failed.raised(py)),
        None => Ok(done),
    }
}

/// The results, and why there is none.
fn apart<T>(done: Vec<Result<Option<T>, Failed>>) -> (Vec<Option<T>>, Vec<Option<String>>) {
    let apart = done.into_iter().map(|one| match one {
        Ok(result) => (result, None),
        Err(failed) => (None, Some(failed.text())),
    });
    apart.unzip()
}

/// The columns of a batch that say what to render.
struct Asked<'b> {
    messages: (&'b str, Values<'b>),
    tools: Option<(&'b str, Values<'b>)>,
    kwargs: &'b Map,
}

impl Asked<'_> {
    fn row(&self, row: usize) -> Result<Option<obverse::chat_template::RenderInput>, String> {
        let (name, messages) = &self.messages;
        let Some(messages) = as_list(messages.get(row)?, name)? else {
            return Ok(None);
        };
        let mut members = Map::new();
        members.insert("messages", Value::Array(messages));
        if let Some((name, tools)) = &self.tools
            && let Some(tools) = as_list(tools.get(row)?, name)?
        {
            members.insert("tools", Value::Array(tools));
        }
        members.insert("kwargs", Value::Object(self.kwargs.clone()));
        input_of(members).map(Some)
    }
}

/// The rendered texts of the conversations in a column, and which of their characters the model wrote.
#[pyfunction]
#[pyo3(signature = (data, chat, *, messages, tools, kwargs, text, generated, error, threads))]
#[allow(
    clippy::too_many_arguments,
    reason = "the options of the function in Python"
)]
pub(crate) fn arrow_spans(
    py: Python<'_>,
    data: AnyRecordBatch,
    chat: &Chat,
    messages: &str,
    tools: Option<&str>,
    kwargs: &Bound<'_, PyAny>,
    text: &str,
    generated: &str,
    error: Option<&str>,
    threads: Option<isize>,
) -> PyResult<PyTable> {
    let kwargs = match crate::convert::from_python(kwargs, crate::convert::Foreign::Refuse)? {
        Value::Object(kwargs) => kwargs,
        _ => Map::new(),
    };
    each(data, |batch| {
        let names: Vec<&str> = [Some(messages), tools].into_iter().flatten().collect();
        let read = spelled_out(batch, &names).map_err(wrong)?;
        let asked = Asked {
            messages: (messages, lists(&read, messages)?),
            tools: tools
                .map(|name| Ok::<_, PyErr>((name, lists(&read, name)?)))
                .transpose()?,
            kwargs: &kwargs,
        };
        let find = |row: usize| -> Result<Option<(String, Ranges)>, Failed> {
            let Some(input) = asked.row(row).map_err(Failed::Other)? else {
                return Ok(None);
            };
            let template = chat.template(&input).map_err(Failed::Other)?;
            let found = spans::of_messages(template, &input);
            let found = found.map_err(|error| Failed::Other(error.to_string()))?;
            let characters = Characters::of(&found.text);
            let ranges = found.generated.iter();
            let ranges =
                ranges.map(|(start, end)| (characters.before(*start), characters.before(*end)));
            Ok(Some((found.text.clone(), ranges.collect())))
        };
        let (found, failures) = apart(spread(py, batch, threads, error, &find)?);
        let (all, written): (Vec<Option<String>>, Vec<Option<Ranges>>) = found
            .into_iter()
            .map(|one| one.map_or((None, None), |(text, ranges)| (Some(text), Some(ranges))))
            .unzip();
        let columns = [
            (text, strings(&all).map_err(wrong)?),
            (generated, ranges(&written)),
        ];
        added(batch, columns, error, &failures).map_err(wrong)
    })
}

/// For each token, from its offsets in characters, 1 where the model wrote a character of it.
#[pyfunction]
#[pyo3(signature = (data, *, generated, offsets, mask, threads))]
pub(crate) fn arrow_masks(
    py: Python<'_>,
    data: AnyRecordBatch,
    generated: &str,
    offsets: &str,
    mask: &str,
    threads: Option<isize>,
) -> PyResult<PyTable> {
    each(data, |batch| {
        let written = Pairs::of(column(batch, generated)?, generated).map_err(wrong)?;
        let tokens = Pairs::of(column(batch, offsets)?, offsets).map_err(wrong)?;
        let of_row = |row: usize| -> Result<Option<Vec<u8>>, String> {
            let pairs = written.get(row)?.zip(tokens.get(row)?);
            if pairs
                .as_ref()
                .is_some_and(|(written, _)| !columns::are_in_order(written))
            {
                return Err(format!(
                    "row {row} of the column {generated:?}: its ranges are not in order, each behind the one before"
                ));
            }
            Ok(pairs.map(|(written, tokens)| columns::mask(&written, &tokens)))
        };
        let done = threads::spread(py, batch.num_rows(), threads, true, &of_row)?;
        let rows: Result<Vec<Option<Vec<u8>>>, String> = done.into_iter().collect();
        let masks = masks(&rows.map_err(wrong)?);
        added(batch, [(mask, masks)], None, &[]).map_err(wrong)
    })
}
