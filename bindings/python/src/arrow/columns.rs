//! Columns: texts and pairs of numbers that are read, and the columns that are made.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, UInt8Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};

/// Starts and ends.
pub(crate) type Ranges = Vec<(usize, usize)>;

/// A column of texts.
pub(crate) enum Texts<'b> {
    Usual(&'b StringArray),
    Large(&'b LargeStringArray),
    View(&'b StringViewArray),
    /// Null in every row.
    None,
}

impl<'b> Texts<'b> {
    /// The texts of a column.
    ///
    /// # Errors
    ///
    /// When it has something else.
    pub(crate) fn of(array: &'b ArrayRef, name: &str) -> Result<Self, String> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Usual(array.as_string::<i32>()),
            DataType::LargeUtf8 => Self::Large(array.as_string::<i64>()),
            DataType::Utf8View => Self::View(array.as_string_view()),
            DataType::Null => Self::None,
            other => {
                return Err(format!(
                    "the column {name:?} must have texts, and has {other}"
                ));
            }
        })
    }

    /// The text of a row; `None` where there is none.
    pub(crate) fn get(&self, row: usize) -> Option<&'b str> {
        match self {
            Self::Usual(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
            Self::None => None,
        }
    }
}

/// The batch as it is read: of these columns, the values in the place of their numbers in a dictionary, in lists and structs, too.
///
/// # Errors
///
/// When a number has no value.
pub(crate) fn spelled_out(batch: &RecordBatch, names: &[&str]) -> Result<RecordBatch, String> {
    let schema = batch.schema();
    let mut fields: Vec<Arc<Field>> = schema.fields().to_vec();
    let mut arrays = batch.columns().to_vec();
    for (field, array) in fields.iter_mut().zip(&mut arrays) {
        let kind = plain(field.data_type());
        if names.contains(&field.name().as_str()) && kind != *field.data_type() {
            let cast = arrow_cast::cast(array, &kind);
            *array = cast.map_err(|error| format!("the column {:?}: {error}", field.name()))?;
            *field = Arc::new(field.as_ref().clone().with_data_type(kind));
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| error.to_string())
}

/// A type with no dictionary in it.
fn plain(kind: &DataType) -> DataType {
    let of = |field: &Arc<Field>| {
        let kind = plain(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(kind))
    };
    match kind {
        DataType::Dictionary(_, values) => plain(values),
        DataType::List(field) => DataType::List(of(field)),
        DataType::LargeList(field) => DataType::LargeList(of(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(of(field), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        other => other.clone(),
    }
}

/// The batch with further columns, and one of errors if that has a name. A column of that name is replaced.
pub(crate) fn added<'n, const N: usize>(
    batch: &RecordBatch,
    columns: [(&'n str, ArrayRef); N],
    error: Option<&'n str>,
    failures: &[Option<String>],
) -> Result<RecordBatch, String> {
    let mut columns = Vec::from(columns);
    if let Some(name) = error {
        columns.push((name, strings(failures)?));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find_map(|(at, name)| names[..at].contains(name).then_some(name))
    {
        return Err(format!(
            "two of the columns that are added are called {twice:?}"
        ));
    }
    let schema = batch.schema();
    let is_kept = |name: &str| !columns.iter().any(|(new, _)| *new == name);
    let kept = schema.fields().iter().zip(batch.columns());
    let kept = kept.filter(|(field, _)| is_kept(field.name()));
    let (mut fields, mut arrays): (Vec<Arc<Field>>, Vec<ArrayRef>) = kept
        .map(|(field, array)| (Arc::clone(field), Arc::clone(array)))
        .unzip();
    for (name, array) in columns {
        fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
        arrays.push(array);
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(|error| error.to_string())
}

/// A column of texts.
///
/// # Errors
///
/// When they are longer together than such a column can be.
pub(crate) fn strings(texts: &[Option<String>]) -> Result<ArrayRef, String> {
    let length: usize = texts.iter().flatten().map(String::len).sum();
    if i32::try_from(length).is_err() {
        return Err(format!(
            "the texts of {} rows have {length} bytes together, more than a column of texts can have: give smaller batches",
            texts.len()
        ));
    }
    let texts = texts.iter().map(Option::as_deref);
    Ok(Arc::new(texts.collect::<StringArray>()))
}

fn number(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The offsets of lists of these lengths.
fn offsets(lengths: impl Iterator<Item = usize>) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(lengths)
}

/// A column of lists of starts and ends.
pub(crate) fn ranges(rows: &[Option<Ranges>]) -> ArrayRef {
    let all = || rows.iter().flatten().flatten();
    let starts: Int64Array = all().map(|(start, _)| number(*start)).collect();
    let ends: Int64Array = all().map(|(_, end)| number(*end)).collect();
    let fields: Fields = ["start", "end"]
        .map(|name| Field::new(name, DataType::Int64, false))
        .to_vec()
        .into();
    let items = StructArray::new(fields, vec![Arc::new(starts), Arc::new(ends)], None);
    let item = Arc::new(Field::new("item", items.data_type().clone(), false));
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, Vec::len));
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    Arc::new(ListArray::new(
        item,
        offsets(lengths),
        Arc::new(items),
        Some(nulls),
    ))
}

/// A column of lists of pairs of numbers: structs of two, or lists of two.
pub(crate) struct Pairs<'b> {
    array: &'b ArrayRef,
    name: String,
}

impl<'b> Pairs<'b> {
    /// The pairs of a column.
    ///
    /// # Errors
    ///
    /// When it has something else than lists.
    pub(crate) fn of(array: &'b ArrayRef, name: &str) -> Result<Self, String> {
        let pairs = Self {
            array,
            name: name.to_owned(),
        };
        match array.data_type() {
            DataType::List(_) | DataType::LargeList(_) | DataType::Null => Ok(pairs),
            _ => Err(pairs.wrong()),
        }
    }

    /// The pairs of a row; `None` where it is null.
    ///
    /// # Errors
    ///
    /// When they are no pairs of whole numbers.
    pub(crate) fn get(&self, row: usize) -> Result<Option<Ranges>, String> {
        let items = match self.array.data_type() {
            // Such an array has no list of what is null in it.
            DataType::Null => return Ok(None),
            _ if self.array.is_null(row) => return Ok(None),
            DataType::List(_) => self.array.as_list::<i32>().value(row),
            _ => self.array.as_list::<i64>().value(row),
        };
        pairs_of(&items).map(Some).ok_or_else(|| self.wrong())
    }

    fn wrong(&self) -> String {
        format!(
            "the column {:?} must have lists of pairs of whole numbers, and has {}",
            self.name,
            self.array.data_type()
        )
    }
}

fn pairs_of(items: &ArrayRef) -> Option<Ranges> {
    if items.null_count() > 0 {
        return None;
    }
    if let DataType::Struct(_) = items.data_type() {
        let [starts, ends] = items.as_struct().columns() else {
            return None;
        };
        let (starts, ends) = (numbers(starts)?, numbers(ends)?);
        return Some(starts.into_iter().zip(ends).collect());
    }
    let pair = |at: usize| {
        let pair = match items.data_type() {
            DataType::List(_) => items.as_list::<i32>().value(at),
            DataType::LargeList(_) => items.as_list::<i64>().value(at),
            DataType::FixedSizeList(_, 2) => items.as_fixed_size_list().value(at),
            _ => return None,
        };
        match numbers(&pair)?.as_slice() {
            [start, end] => Some((*start, *end)),
            _ => None,
        }
    };
    match items.data_type() {
        // The offsets of a text without tokens.
        DataType::Null if items.is_empty() => Some(Vec::new()),
        _ => (0..items.len()).map(pair).collect(),
    }
}

/// Whole numbers, none of them null or negative.
fn numbers(array: &ArrayRef) -> Option<Vec<usize>> {
    if array.null_count() > 0 {
        return None;
    }
    macro_rules! each {
        ($kind:ty) => {{
            let values: &ScalarBuffer<_> = array.as_primitive::<$kind>().values();
            values
                .iter()
                .map(|value| usize::try_from(*value).ok())
                .collect()
        }};
    }
    match array.data_type() {
        DataType::Int64 => each!(Int64Type),
        DataType::Int32 => each!(Int32Type),
        DataType::UInt32 => each!(UInt32Type),
        DataType::UInt64 => each!(UInt64Type),
        _ => None,
    }
}

/// Returns true if each of the ranges begins where the one before has ended, or later, so that they can be searched.
pub(crate) fn are_in_order(ranges: &Ranges) -> bool {
    ranges.iter().all(|(start, end)| start <= end)
        && ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// The mask of tokens: 1 for each of which the model wrote a character. As in `Spans.mask`, the last character decides where a token has no offsets
/// but an end. The ranges must be in order.
pub(crate) fn mask(generated: &Ranges, tokens: &Ranges) -> Vec<u8> {
    let bit = |(start, end): &(usize, usize)| {
        let start = if start < end {
            *start
        } else {
            end.saturating_sub(1)
        };
        let next = generated.partition_point(|(_, until)| *until <= start);
        let touches = generated.get(next).is_some_and(|(from, _)| from < end);
        u8::from(touches && *end > 0)
    };
    tokens.iter().map(bit).collect()
}

/// A column of masks.
pub(crate) fn masks(rows: &[Option<Vec<u8>>]) -> ArrayRef {
    let bits: UInt8Array = rows.iter().flatten().flatten().copied().collect();
    let item = Arc::new(Field::new("item", DataType::UInt8, false));
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, Vec::len));
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    Arc::new(ListArray::new(
        item,
        offsets(lengths),
        Arc::new(bits),
        Some(nulls),
    ))
}
