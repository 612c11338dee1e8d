//! The chat templates of a GGUF file, read from its metadata. Tensors are never touched, and what the file claims of
//! its own sizes is not believed beyond its length.
//!
//! The layout is that of the format's description in the ggml repository (`docs/gguf.md`), versions 2 and 3.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::error::LoadError;
use super::tokens::TokenLists;
use crate::value::{Map, Value};

/// The number of metadata entries that a file may have.
const MAX_ENTRIES: u64 = 1 << 16;

/// The number of bytes that a string which is read, rather than skipped, may have.
const MAX_STRING: u64 = 8 << 20;

/// How deep arrays of arrays may nest.
const MAX_ARRAYS: usize = 4;

/// The names of the ids of special tokens, with the variable that each becomes.
const TOKEN_IDS: [(&str, &str); 8] = [
    ("tokenizer.ggml.bos_token_id", "bos_token"),
    ("tokenizer.ggml.eos_token_id", "eos_token"),
    ("tokenizer.ggml.unknown_token_id", "unk_token"),
    ("tokenizer.ggml.seperator_token_id", "sep_token"),
    ("tokenizer.ggml.separator_token_id", "sep_token"),
    ("tokenizer.ggml.padding_token_id", "pad_token"),
    ("tokenizer.ggml.cls_token_id", "cls_token"),
    ("tokenizer.ggml.mask_token_id", "mask_token"),
];

/// Why the metadata cannot be read.
enum Bad {
    Io(io::Error),
    Format(String),
}

impl From<io::Error> for Bad {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The parts of a file that are about chats.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Model {
    /// The chat templates by name.
    pub(super) templates: Vec<(String, String)>,
    /// The special tokens by the names of their variables.
    pub(super) special_tokens: Map,
    /// The control tokens, and those that end a turn or a text.
    pub(super) tokens: TokenLists,
}

/// The names of the ids of tokens at which an engine stops.
const END_IDS: [&str; 3] = [
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
];

/// The type of a control token among `tokenizer.ggml.token_type`.
const CONTROL: i32 = 3;

/// Reads the parts of a file that are about chats.
pub(super) fn read(path: &Path) -> Result<Model, LoadError> {
    let file = File::open(path).map_err(|error| LoadError::unreadable(path, error))?;
    let length = file
        .metadata()
        .map_err(|error| LoadError::unreadable(path, error))?
        .len();
    metadata(BufReader::new(file), length).map_err(|bad| {
        let reason = match bad {
            Bad::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                "not a whole GGUF file: it ends within its metadata".to_owned()
            }
            Bad::Io(error) => error.to_string(),
            Bad::Format(reason) => reason,
        };
        LoadError::unreadable(path, reason)
    })
}

struct Reader<R> {
    inner: R,
    /// The bytes that the file has.
    length: u64,
}

fn metadata<R: Read + Seek>(inner: R, length: u64) -> Result<Model, Bad> {
    let mut reader = Reader { inner, length };
    if reader.bytes::<4>()? != *b"GGUF" {
        return Err(Bad::Format(
            "not a GGUF file: it does not begin with `GGUF`".to_owned(),
        ));
    }
    match reader.u32()? {
        2 | 3 => {}
        1 => return Err(Bad::Format("GGUF version 1 is not supported".to_owned())),
        other if other.swap_bytes() <= 3 => {
            return Err(Bad::Format(
                "a GGUF file for big-endian machines is not supported".to_owned(),
            ));
        }
        other => {
            return Err(Bad::Format(format!(
                "GGUF version {other} is not supported"
            )));
        }
    }
    reader.u64()?;
    let entries = reader.u64()?;
    if entries > MAX_ENTRIES {
        return Err(Bad::Format(format!(
            "more metadata entries than the limit of {MAX_ENTRIES}"
        )));
    }
    let mut model = Model::default();
    let mut ids = Vec::new();
    let mut ends = Vec::new();
    let (mut tokens_at, mut types_at) = (None, None);
    for _ in 0..entries {
        let key = reader.string()?;
        let kind = reader.u32()?;
        let template = match key.strip_prefix("tokenizer.chat_template") {
            Some("") => Some("default"),
            Some(name) => name.strip_prefix('.'),
            None => None,
        };
        let named = TOKEN_IDS.iter().find(|(id, _)| *id == key);
        let is_end = END_IDS.contains(&key.as_str());
        if let (Some(name), 8) = (template, kind) {
            let text = reader.string()?;
            model.templates.push((name.to_owned(), text));
        } else if named.is_some() || is_end {
            if let Some(id) = reader.unsigned(kind)? {
                ids.extend(named.map(|(_, name)| (*name, id)));
                ends.extend(is_end.then_some(id));
            }
        } else {
            if key == "tokenizer.ggml.tokens" && kind == 9 {
                tokens_at = Some(reader.inner.stream_position()?);
            }
            if key == "tokenizer.ggml.token_type" && kind == 9 {
                types_at = Some(reader.inner.stream_position()?);
            }
            reader.skip(kind, 0)?;
        }
    }
    let mut controls = HashSet::new();
    if let Some(at) = types_at {
        reader.inner.seek(SeekFrom::Start(at))?;
        if reader.u32()? == 5 {
            for index in 0..reader.u64()? {
                if i32::from_le_bytes(reader.bytes()?) == CONTROL {
                    controls.insert(index);
                }
            }
        }
    }
    let Some(at) = tokens_at else {
        return Ok(model);
    };
    reader.inner.seek(SeekFrom::Start(at))?;
    if reader.u32()? != 8 {
        return Ok(model);
    }
    let count = reader.u64()?;
    let wanted = ids.iter().map(|(_, id)| *id).chain(ends.iter().copied());
    let wanted: HashSet<u64> = wanted.chain(controls.iter().copied()).collect();
    let last = wanted.iter().copied().filter(|id| *id < count).max();
    for index in 0..last.map_or(0, |last| last + 1) {
        if !wanted.contains(&index) {
            reader.skip(8, 0)?;
            continue;
        }
        let text = reader.string()?;
        for (name, _) in ids.iter().filter(|(_, id)| *id == index) {
            let name = (*name).to_owned();
            model
                .special_tokens
                .insert(name, Value::from(text.as_str()));
        }
        if ends.contains(&index) {
            model.tokens.end.push(text.clone());
        }
        if controls.contains(&index) {
            model.tokens.special.push(text);
        }
    }
    Ok(model)
}

impl<R: Read + Seek> Reader<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
        let mut buffer = [0; N];
        self.inner.read_exact(&mut buffer)?;
        Ok(buffer)
    }

    fn u32(&mut self) -> Result<u32, Bad> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Bad> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn string(&mut self) -> Result<String, Bad> {
        let length = self.u64()?;
        if length > MAX_STRING.min(self.length) {
            return Err(Bad::Format(format!(
                "a string of {length} bytes in the metadata, beyond the limit of {MAX_STRING} or the file's end"
            )));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.inner.read_exact(&mut bytes)?;
        String::from_utf8(bytes)
            .map_err(|_| Bad::Format("a string in the metadata is not UTF-8".to_owned()))
    }

    /// The value of an integer entry; `None` for a negative one and for any other type.
    fn unsigned(&mut self, kind: u32) -> Result<Option<u64>, Bad> {
        Ok(match kind {
            0 => Some(u64::from(u8::from_le_bytes(self.bytes()?))),
            2 => Some(u64::from(u16::from_le_bytes(self.bytes()?))),
            4 => Some(u64::from(self.u32()?)),
            5 => u64::try_from(i32::from_le_bytes(self.bytes()?)).ok(),
            10 => Some(self.u64()?),
            11 => u64::try_from(i64::from_le_bytes(self.bytes()?)).ok(),
            other => {
                self.skip(other, 0)?;
                None
            }
        })
    }

    fn skip_bytes(&mut self, count: u64) -> Result<(), Bad> {
        let at = self.inner.stream_position()?;
        if count > self.length.saturating_sub(at) {
            return Err(Bad::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        self.inner
            .seek_relative(i64::try_from(count).unwrap_or(i64::MAX))?;
        Ok(())
    }

    fn skip(&mut self, kind: u32, arrays: usize) -> Result<(), Bad> {
        if let Some(size) = size_of(kind) {
            return self.skip_bytes(size);
        }
        match kind {
            8 => {
                let length = self.u64()?;
                self.skip_bytes(length)
            }
            9 if arrays < MAX_ARRAYS => {
                let kind = self.u32()?;
                let count = self.u64()?;
                if let Some(size) = size_of(kind) {
                    return self.skip_bytes(count.saturating_mul(size));
                }
                // Each item has at least the eight bytes of its length, so that the file's own length bounds this.
                if count > self.length / 8 {
                    return Err(Bad::Io(io::ErrorKind::UnexpectedEof.into()));
                }
                (0..count).try_for_each(|_| self.skip(kind, arrays + 1))
            }
            9 => Err(Bad::Format(format!(
                "arrays in the metadata nest deeper than the limit of {MAX_ARRAYS}"
            ))),
            other => Err(Bad::Format(format!(
                "an unknown type {other} in the metadata"
            ))),
        }
    }
}

/// The bytes of a value of a type that always has the same number.
fn size_of(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{Bad, Model, metadata};

    fn string(text: &str) -> Vec<u8> {
        let mut out = (text.len() as u64).to_le_bytes().to_vec();
        out.extend(text.as_bytes());
        out
    }

    fn entry(key: &str, kind: u32, value: Vec<u8>) -> Vec<u8> {
        [string(key), kind.to_le_bytes().to_vec(), value].concat()
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend(0u64.to_le_bytes());
        out.extend((entries.len() as u64).to_le_bytes());
        out.extend(entries.concat());
        out
    }

    fn read(bytes: Vec<u8>) -> Result<Model, String> {
        let length = bytes.len() as u64;
        metadata(Cursor::new(bytes), length).map_err(|bad| match bad {
            Bad::Io(error) => error.kind().to_string(),
            Bad::Format(reason) => reason,
        })
    }

    fn whole() -> Vec<u8> {
        let tokens = [
            8u32.to_le_bytes().to_vec(),
            3u64.to_le_bytes().to_vec(),
            string("a"),
            string("<s>"),
            string("</s>"),
        ];
        let types = [5u32, 3, 0, 1, 3, 3].map(u32::to_le_bytes).map(Vec::from);
        file(&[
            entry("general.name", 8, string("model")),
            entry(
                "tokenizer.ggml.eos_token_id",
                4,
                2u32.to_le_bytes().to_vec(),
            ),
            entry("tokenizer.ggml.tokens", 9, tokens.concat()),
            entry("tokenizer.ggml.token_type", 9, types.concat()),
            entry(
                "some.floats",
                9,
                [
                    6u32.to_le_bytes().to_vec(),
                    2u64.to_le_bytes().to_vec(),
                    vec![0; 8],
                ]
                .concat(),
            ),
            entry(
                "tokenizer.ggml.bos_token_id",
                4,
                1u32.to_le_bytes().to_vec(),
            ),
            entry(
                "tokenizer.ggml.padding_token_id",
                4,
                99u32.to_le_bytes().to_vec(),
            ),
            entry("tokenizer.chat_template", 8, string("{{ messages }}")),
            entry("tokenizer.chat_template.tool_use", 8, string("{{ tools }}")),
        ])
    }

    #[test]
    fn templates_and_tokens_are_read() {
        let model = read(whole()).expect("a GGUF file");
        let templates = model.templates;
        let names: Vec<&str> = templates.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["default", "tool_use"]);
        assert_eq!(templates[1].1, "{{ tools }}");
        assert_eq!(model.tokens.special, ["<s>", "</s>"]);
        assert_eq!(model.tokens.end, ["</s>"]);
        let shown: Vec<String> = model
            .special_tokens
            .iter()
            .map(|(name, token)| format!("{name}={}", token.as_str().unwrap_or("")))
            .collect();
        assert_eq!(shown, ["bos_token=<s>", "eos_token=</s>"]);
    }

    #[test]
    fn what_is_cut_short_or_lies_is_refused() {
        let whole = whole();
        for length in 0..whole.len() {
            assert!(read(whole[..length].to_vec()).is_err(), "cut at {length}");
        }
        let huge = u64::MAX.to_le_bytes().to_vec();
        assert!(read(file(&[entry("x", 8, huge.clone())])).is_err());
        assert!(read(file(&[entry("tokenizer.chat_template", 8, huge.clone())])).is_err());
        assert!(
            read(file(&[entry(
                "x",
                9,
                [8u32.to_le_bytes().to_vec(), huge.clone()].concat()
            )]))
            .is_err()
        );
        assert!(
            read(file(&[entry(
                "x",
                9,
                [4u32.to_le_bytes().to_vec(), huge].concat()
            )]))
            .is_err()
        );
        let nested = [9u32.to_le_bytes().to_vec(), 1u64.to_le_bytes().to_vec()]
            .concat()
            .repeat(50);
        assert!(
            read(file(&[entry("x", 9, nested)]))
                .expect_err("too deep")
                .contains("limit")
        );
        assert!(
            read(b"GGML____".to_vec())
                .expect_err("not GGUF")
                .contains("not a GGUF file")
        );
        assert!(
            read(file(&[entry("x", 77, Vec::new())]))
                .expect_err("a type")
                .contains("77")
        );
    }
}
