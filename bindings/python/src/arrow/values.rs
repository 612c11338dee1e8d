//! Values of a column, as the library has them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use obverse::value::{Integer, Map, Value, json};

/// A column of values: lists and structs as they are, or their JSON as text.
///
/// A member of a struct that is null is as one that is not there: Arrow gives each struct all the members that any has, so that it cannot tell the two
/// apart.
pub(crate) struct Values<'b> {
    array: &'b ArrayRef,
    name: String,
    is_json: bool,
}

impl<'b> Values<'b> {
    /// The values of a column.
    ///
    /// # Errors
    ///
    /// When its type is no list and no text, or has something in it that JSON does not have.
    pub(crate) fn of(array: &'b ArrayRef, name: &str) -> Result<Self, String> {
        use DataType::{FixedSizeList, LargeList, LargeUtf8, List, Null, Utf8, Utf8View};
        let kind = array.data_type();
        let is_json = matches!(kind, Utf8 | LargeUtf8 | Utf8View);
        if !is_json && !matches!(kind, List(_) | LargeList(_) | FixedSizeList(..) | Null) {
            return Err(format!(
                "the column {name:?} must have lists, or their JSON as text, and has {kind}"
            ));
        }
        if let Some(kind) = foreign(kind) {
            return Err(format!(
                "the column {name:?} has {kind} in it, which JSON does not have"
            ));
        }
        Ok(Self {
            array,
            name: name.to_owned(),
            is_json,
        })
    }

    /// The value of a row.
    ///
    /// # Errors
    ///
    /// When it is a text that is no JSON.
    pub(crate) fn get(&self, row: usize) -> Result<Value, String> {
        match value(self.array, row) {
            Value::String(text) if self.is_json => json::parse(&text)
                .map_err(|error| format!("{} is no JSON: {}", self.name, error.message())),
            value => Ok(value),
        }
    }
}

/// A type within a type that JSON does not have.
fn foreign(kind: &DataType) -> Option<&DataType> {
    use DataType::*;
    match kind {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64
        | Float32 | Float64 | Utf8 | LargeUtf8 | Utf8View => None,
        List(field) | LargeList(field) | FixedSizeList(field, _) => foreign(field.data_type()),
        Struct(fields) => fields.iter().find_map(|field| foreign(field.data_type())),
        other => Some(other),
    }
}

fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let text = |text: &str| Value::String(text.to_owned());
    let list =
        |items: ArrayRef| Value::Array((0..items.len()).map(|at| value(&items, at)).collect());
    macro_rules! whole {
        ($kind:ty, $wide:ty) => {
            Value::Int(Integer::from(<$wide>::from(
                array.as_primitive::<$kind>().value(row),
            )))
        };
    }
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int8 => whole!(Int8Type, i64),
        DataType::Int16 => whole!(Int16Type, i64),
        DataType::Int32 => whole!(Int32Type, i64),
        DataType::Int64 => whole!(Int64Type, i64),
        DataType::UInt8 => whole!(UInt8Type, u64),
        DataType::UInt16 => whole!(UInt16Type, u64),
        DataType::UInt32 => whole!(UInt32Type, u64),
        DataType::UInt64 => whole!(UInt64Type, u64),
        DataType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::List(_) => list(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let mut members = Map::new();
            for (field, column) in fields.iter().zip(columns) {
                match value(column, row) {
                    Value::Null => {}
                    value => {
                        members.insert(field.name().clone(), value);
                    }
                }
            }
            Value::Object(members)
        }
        // The type was looked at before.
        _ => Value::Null,
    }
}
