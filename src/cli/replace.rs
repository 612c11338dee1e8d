//! Giving a file another text.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use obverse::check::FileChange;
use obverse::diagnostic::Diagnostic;

use super::input;
use super::problem::Problem;
use super::template::CONFIG;

/// The beginning of every page.
const PAGE: &[u8] = b"<!DOCTYPE html";

/// The end of the name of a temporary file. No other program's end like this.
const TEMPORARY: &str = ".obverse.tmp";

/// How many further names a write tries for its temporary file. A name that is taken belongs to a process of another container, or to a
/// write that was killed.
const NAMES: usize = 100;

/// How old a temporary file is at least that nobody has locked before it is taken to be left behind by a write that was killed: a
/// write makes its file first and locks it then.
const YOUNG: Duration = Duration::from_secs(1);

/// How old it is at least where files cannot be locked, as on some network drives. No write takes that long.
const STALE: Duration = Duration::from_secs(60);

/// Gives a file another text, at once and whole: nobody sees half of it, and if it fails the old one stays. The file
/// keeps its permissions and its owner. What is protected is left alone, see [`protection`].
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Problem> {
    refuse(path)?;
    replace_anyway(path, text)
}

/// Fails if a file is protected, for a verb without `--force`, before any work is done.
pub(crate) fn refuse(path: &Path) -> Result<(), Problem> {
    match protection(path) {
        Some(why) => {
            Err(refused(path, &why)
                .with_hint("write to a copy, or change that first if it is meant"))
        }
        None => Ok(()),
    }
}

/// Replaces a file for a verb that has `--force`, with which protected files are written too: where the file is a symbolic link, the
/// file that it leads to.
pub(crate) fn replace_or_force(path: &Path, text: &str, force: bool) -> Result<(), Problem> {
    refuse_protected(path, force)?;
    replace_anyway(path, text)
}

/// Writes a page. A file that is there and is none is left alone without `force`: it was named by mistake, as the source may be.
pub(crate) fn replace_page(path: &Path, page: &str, force: bool) -> Result<(), Problem> {
    refuse_protected(path, force)?;
    let begun = fs::read(path).unwrap_or_default();
    let begun = begun.trim_ascii_start();
    let is_page = begun
        .get(..PAGE.len())
        .is_some_and(|begun| begun.eq_ignore_ascii_case(PAGE));
    if !begun.is_empty() && !is_page && !force {
        let hint = "--html FILE is where the page goes: name a file that is not there, or a page";
        return Err(refused(path, "is there and is no page").with_hint(hint));
    }
    replace_anyway(path, page)
}

/// Fails if a file that is to be written is one that is read.
pub(crate) fn refuse_source(path: &Path, source: &Path) -> Result<(), Problem> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(file) = real(path) else {
        return Ok(());
    };
    // Of a model folder these are read.
    let inside = ["chat_template.jinja", CONFIG].map(|name| source.join(name));
    let mut read = std::iter::once(source).chain(inside.iter().map(PathBuf::as_path));
    if read.any(|read| real(read).as_ref() == Some(&file)) {
        return Err(refused(path, "is what is read").with_hint("name another file"));
    }
    Ok(())
}

/// Fails if a file is there that is not what is to be written: it was named by mistake, as what is read may be. An empty one is as good as none.
#[cfg(feature = "tui")]
pub(crate) fn refuse_other(
    path: &Path,
    is_such: impl Fn(&str) -> bool,
    what: &str,
    hint: &str,
) -> Result<(), Problem> {
    let is_file = fs::metadata(path).is_ok_and(|there| there.is_file());
    let Some(text) = is_file.then(|| fs::read(path).ok()).flatten() else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&text);
    if text.trim().is_empty() || is_such(&text) {
        return Ok(());
    }
    Err(refused(path, &format!("is there and is no {what}")).with_hint(hint))
}

/// Fails if a file must not be written without `--force`, before any work is done.
pub(crate) fn refuse_protected(path: &Path, force: bool) -> Result<(), Problem> {
    match protection(path) {
        Some(why) if !force => Err(refused(path, &why).with_hint("--force writes it all the same")),
        _ => Ok(()),
    }
}

/// Why a file should not be written: it is a symbolic link (in the caches of models what it leads to is shared, and named after
/// its content), or it may not be written.
fn protection(path: &Path) -> Option<String> {
    let there = fs::metadata(path);
    let leads_nowhere = there.is_err() && path.is_symlink();
    if leads_nowhere {
        let target = fs::read_link(path).unwrap_or_default();
        let target = input::name(&target);
        return Some(format!(
            "is a symbolic link to {target}, which is not there"
        ));
    }
    let metadata = there.ok().filter(fs::Metadata::is_file)?;
    if path.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return Some(format!(
            "is a symbolic link to {}, which others may share",
            input::name(&target)
        ));
    }
    if metadata.permissions().readonly() {
        return Some("is read-only".to_owned());
    }
    None
}

fn refused(path: &Path, why: &str) -> Problem {
    Problem::failed("protected", format!("{} {why}", input::name(path)))
}

fn replace_anyway(path: &Path, text: &str) -> Result<(), Problem> {
    let others = other_names(path);
    write(path, text).map_err(|error| {
        Problem::failed(
            "unwritable",
            format!("cannot write {}: {error}", input::name(path)),
        )
    })?;
    if others > 0 {
        let name = input::name(path);
        let message =
            format!("{name} was a hard link: the file keeps its old text under its other names");
        let hint = "if they are to stay one file, write to a copy and copy its text into the file";
        Problem::of(Diagnostic::warning("hard-link", message).with_hint(hint)).show();
    }
    Ok(())
}

/// How many other names a file has. They go on to name the old file, since what is written takes its place under one name.
#[cfg(unix)]
fn other_names(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;

    let there = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    there.map_or(0, |there| there.nlink().saturating_sub(1))
}

/// Nothing is known here of other names.
#[cfg(not(unix))]
fn other_names(_: &Path) -> u64 {
    0
}

/// Makes a folder that is not there yet, and those around it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| {
        Problem::failed(
            "unwritable",
            format!("cannot create {}: {error}", input::name(folder)),
        )
    })
}

/// Makes a file what it is to become: another text, at once and whole, or gone. A folder that is not there yet is made.
pub(crate) fn apply(change: &FileChange) -> Result<(), Problem> {
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
    let (target, before) = match fs::canonicalize(path) {
        Ok(target) => {
            let metadata = fs::metadata(&target)?;
            if !metadata.is_file() {
                // A pipe or a device is written to, not replaced.
                return fs::write(&target, text);
            }
            (target, Some(metadata))
        }
        // A link that leads to no file makes the file that it leads to. There is no old text that could be lost.
        Err(_) if path.is_symlink() => return fs::write(path, text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_path_buf(), None),
        Err(error) => return Err(error),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    remove_leftovers(folder);
    let mut temporary = Temporary::beside(&target)?;
    let written = temporary
        .fill(text, before.as_ref())
        .and_then(|()| temporary.rename(&target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary.path);
    }
    written
}

/// The file that is to take the place of another one. It stays open, and locked, until it has that name, so that no other write takes
/// it for one that was left behind.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    /// Makes it in the same folder, since only there renaming is one step.
    fn beside(target: &Path) -> io::Result<Self> {
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file's name"))?;
        let (name, process) = (name.to_string_lossy(), std::process::id());
        let mut number = 0;
        loop {
            let which = match number {
                0 => process.to_string(),
                number => format!("{process}-{number}"),
            };
            let path = target.with_file_name(format!(".{name}.{which}{TEMPORARY}"));
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                    number += 1;
                }
                made => {
                    let file = made?;
                    // Another write may hold the lock for as long as it looks whether this file was left behind. Where files cannot be
                    // locked, its age tells that it is written.
                    let _ = file.lock();
                    return Ok(Self { path, file });
                }
            }
        }
    }

    /// Writes it, with the owner and the permissions of what it replaces.
    fn fill(&mut self, text: &str, before: Option<&fs::Metadata>) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        if let Some(before) = before {
            keep_owner(&self.file, before)?;
            // After the owner, whose change takes some of them away.
            self.file.set_permissions(before.permissions())?;
        }
        self.file.sync_all()
    }

    /// Gives it the name of what it replaces.
    fn rename(&self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

/// Removes what writes that were killed have left behind in a folder, whichever file they were to write: who was killed writing one
/// may never write that one again. That it cannot be done keeps nothing from being written.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // To open a pipe would wait for a writer.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_ours = is_file && is_temporary(&entry.file_name().to_string_lossy());
        if is_ours && is_left(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns true if [`Temporary::beside`] makes such names.
fn is_temporary(name: &str) -> bool {
    let parts = name
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(TEMPORARY))
        .and_then(|rest| rest.rsplit_once('.'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(file, which)| {
        let (process, number) = which.split_once('-').unwrap_or((which, "1"));
        !file.is_empty() && is_number(process) && is_number(number)
    })
}

/// Returns true if nobody writes a temporary file any more. A writer holds a lock on its file until it is renamed, and a lock ends with
/// its process, whichever container or user that belongs to; a number of a process alone would not tell.
fn is_left(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let age = || file.metadata().ok()?.modified().ok()?.elapsed().ok();
    let least = match file.try_lock() {
        Ok(()) => YOUNG,
        Err(TryLockError::WouldBlock) => return false,
        Err(TryLockError::Error(_)) => STALE,
    };
    age().is_some_and(|age| age >= least)
}

/// Gives a new file the owner and the group of the one that it replaces.
#[cfg(unix)]
fn keep_owner(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid())).map_err(|error| {
        let message = format!(
            "it belongs to user {} and group {}, which it would lose: {error}",
            before.uid(),
            before.gid()
        );
        io::Error::new(error.kind(), message)
    })
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
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
        let refused = replace(&link, "new").unwrap_err();
        assert!(
            refused.diagnostics[0]
                .message
                .contains("is a symbolic link to")
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        replace_or_force(&link, "new", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_read_only_is_not_replaced_unless_it_is_forced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        let problem = replace_or_force(&file, "new", false).unwrap_err();
        assert_eq!(problem.diagnostics[0].code, "protected");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        replace_or_force(&file, "new", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::metadata(&file).unwrap().permissions().readonly());
    }

    #[test]
    fn what_a_killed_write_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).unwrap();
            let then = std::time::SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).unwrap();
        };
        make(".a.json.123.obverse.tmp", 3600);
        make(".b.json.124.obverse.tmp", 3600);
        // One that is being written, one that was only just made, and what is somebody else's.
        let written = folder.path().join(".c.json.125.obverse.tmp");
        make(".c.json.125.obverse.tmp", 3600);
        let writer = File::open(&written).unwrap();
        writer.lock().unwrap();
        make(".a.json.126.obverse.tmp", 0);
        make(".a.json.old.obverse.tmp", 3600);
        make(".a.json.127.tmp", 3600);
        replace(&folder.path().join("a.json"), "new").unwrap();
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let kept = [
            ".a.json.126.obverse.tmp",
            ".a.json.127.tmp",
            ".a.json.old.obverse.tmp",
            ".c.json.125.obverse.tmp",
            "a.json",
        ];
        assert_eq!(names(), kept);
        drop(writer);
        replace(&folder.path().join("a.json"), "new").unwrap();
        assert!(!written.exists());
    }

    #[test]
    fn what_is_being_written_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let hour = Duration::from_secs(3600);
        let mut held = Temporary::beside(&folder.path().join("a.json")).unwrap();
        held.fill("new", None).unwrap();
        let then = std::time::SystemTime::now() - hour;
        held.file.set_modified(then).unwrap();
        assert!(!is_left(&held.path));
        let path = held.path.clone();
        drop(held);
        assert!(is_left(&path));
    }

    /// It is held while it gets its name: a sweep that comes before that leaves it.
    #[cfg(unix)]
    #[test]
    fn a_write_holds_its_file_until_it_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.json");
        let mut temporary = Temporary::beside(&target).unwrap();
        temporary.fill("new", None).unwrap();
        let same = File::open(&temporary.path).unwrap();
        temporary.rename(&target).unwrap();
        assert!(matches!(same.try_lock(), Err(TryLockError::WouldBlock)));
    }

    #[test]
    fn the_temporary_file_of_another_write_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.json");
        let other = Temporary::beside(&target).unwrap();
        fs::write(&other.path, "theirs").unwrap();
        replace(&target, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_to_string(&other.path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        // Nor is it removed when there is no name left.
        let others: Vec<Temporary> = (0..NAMES)
            .map(|_| Temporary::beside(&target).unwrap())
            .collect();
        let problem = replace(&target, "newer").unwrap_err();
        assert!(problem.diagnostics[0].message.contains("cannot write"));
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert!(others.iter().all(|other| other.path.exists()));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_waits_for_a_pipe_of_such_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join(".a.json.1.obverse.tmp");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let target = folder.path().join("a.json");
        let (done, ends) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(replace(&target, "new").is_ok()));
        assert_eq!(ends.recv_timeout(Duration::from_secs(30)), Ok(true));
        assert!(pipe.exists());
    }

    #[test]
    fn the_temporary_file_of_a_write_is_known_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(".a.json");
        let made = [(); 2].map(|()| Temporary::beside(&target).unwrap());
        for one in &made {
            let name = one.path.file_name().unwrap().to_string_lossy();
            assert!(is_temporary(&name), "{name}");
        }
        for other in [
            ".1.obverse.tmp",
            "a.1.obverse.tmp",
            ".a..obverse.tmp",
            ".a.1-.obverse.tmp",
            ".a.-1.obverse.tmp",
            ".a.1.tmp",
        ] {
            assert!(!is_temporary(other), "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_told_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let refused = replace_or_force(&link, "new", false).unwrap_err();
        assert!(
            refused.diagnostics[0]
                .message
                .contains("which is not there")
        );
        assert!(!file.exists());
        replace_or_force(&link, "new", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
    }

    /// Only who may do anything can give a file away, so elsewhere there is nothing to see.
    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_owner() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        if std::os::unix::fs::chown(&file, Some(12345), Some(54321)).is_err() {
            return;
        }
        replace(&file, "new").unwrap();
        let metadata = fs::metadata(&file).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12345, 54321));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let problem = replace(&folder.path().join("no/file"), "text").unwrap_err();
        assert!(problem.diagnostics[0].message.contains("cannot write"));
    }
}
