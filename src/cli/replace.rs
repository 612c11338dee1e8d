//! Giving a file another text.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use obverse::check::Change;

use super::input;
use super::problem::Problem;

/// Gives a file another text, at once and whole: nobody sees half of it, and if it fails the old one stays. The file
/// keeps its permissions; where it is a symbolic link, the file that it leads to is replaced.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Problem> {
    write(path, text).map_err(|error| {
        Problem::failed(
            "unwritable",
            format!("cannot write {}: {error}", input::name(path)),
        )
    })
}

/// Makes a file what it is to become: another text, at once and whole, or gone. A folder that is not there yet is made.
pub(crate) fn apply(change: &Change) -> Result<(), Problem> {
    let path = &change.path;
    let failed = |what: &str, error: &io::Error| {
        Problem::failed(
            "unwritable",
            format!("cannot {what} {}: {error}", input::name(path)),
        )
    };
    let Some(text) = &change.after else {
        return fs::remove_file(path).map_err(|error| failed("remove", &error));
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed("make the folder of", &error))?;
    }
    replace(path, text)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let (target, permissions) = match fs::canonicalize(path) {
        Ok(target) => {
            let metadata = fs::metadata(&target)?;
            if !metadata.is_file() {
                // A pipe or a device is written to, not replaced.
                return fs::write(&target, text);
            }
            (target, Some(metadata.permissions()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_path_buf(), None),
        Err(error) => return Err(error),
    };
    let temporary = beside(&target)?;
    let written =
        fill(&temporary, text, permissions).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name in the same folder, since only there renaming is one step.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file's name"))?;
    let temporary = format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id());
    Ok(target.with_file_name(temporary))
}

fn fill(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions_and_its_link() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("blob");
        let link = folder.path().join("link");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let problem = replace(&folder.path().join("no/file"), "text").unwrap_err();
        assert!(problem.diagnostics[0].message.contains("cannot write"));
    }
}
