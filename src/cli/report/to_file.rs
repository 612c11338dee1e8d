//! The value of `--write`: a format, and the file that is written in it.

use std::path::PathBuf;

use clap::ValueEnum;

use super::Format;

/// A value of `--write`.
#[derive(Debug, Clone)]
pub(super) struct ToFile {
    pub(super) format: Format,
    pub(super) path: PathBuf,
}

/// Reads it.
pub(super) fn read(text: &str) -> Result<ToFile, String> {
    let (format, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or("a format and a file are needed, as in sarif=obverse.sarif")?;
    if path == "-" {
        return Err("a file is needed: --format says what standard output has".to_owned());
    }
    let known = || {
        let all = Format::value_variants().iter();
        let names = all.filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()));
        names.collect::<Vec<_>>().join(", ")
    };
    let unknown = |_| format!("there is no format {format}; there are {}", known());
    Ok(ToFile {
        format: Format::from_str(format, false).map_err(unknown)?,
        path: PathBuf::from(path),
    })
}
