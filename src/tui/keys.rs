//! The keys and their actions: one table, from which the help is made too.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::{Action, Direction, Unit};
use super::layout::Pane;
use super::state::{Mode, State};
use super::text::Motion;

/// A key, what it does while one moves about, and what the help says of it.
struct Binding {
    keys: &'static [(KeyCode, KeyModifiers)],
    shown: &'static str,
    action: fn() -> Action,
    help: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

const fn key(c: char) -> (KeyCode, KeyModifiers) {
    (KeyCode::Char(c), NONE)
}

macro_rules! bindings {
    ($($heading:literal { $($shown:literal [$($keys:expr),*] $help:literal => $action:expr;)* })*) => {
        &[$(($heading, &[$(Binding {
            keys: &[$($keys),*],
            shown: $shown,
            action: || $action,
            help: $help,
        }),*])),*]
    };
}

/// The table: headings, and what stands below each.
const TABLE: &[(&str, &[Binding])] = bindings! {
    "Moving" {
        "→ ←" [(KeyCode::Right, NONE), key('l')] "a chunk on, a chunk back (also l h)" => Action::Step(Unit::Chunk, Direction::Forward);
        "" [(KeyCode::Left, NONE), key('h')] "" => Action::Step(Unit::Chunk, Direction::Back);
        ". ," [key('.'), (KeyCode::Right, SHIFT)] "a character" => Action::Step(Unit::Character, Direction::Forward);
        "" [key(','), (KeyCode::Left, SHIFT)] "" => Action::Step(Unit::Character, Direction::Back);
        "] [" [key(']')] "an event (also ↓ ↑ in Response and Events)" => Action::Step(Unit::Event, Direction::Forward);
        "" [key('[')] "" => Action::Step(Unit::Event, Direction::Back);
        "} {" [key('}')] "a region (also PgDn PgUp there)" => Action::Step(Unit::Region, Direction::Forward);
        "" [key('{')] "" => Action::Step(Unit::Region, Direction::Back);
        "g G" [key('g'), (KeyCode::Home, NONE)] "to the start, to the end (also Home End)" => Action::Start;
        "" [key('G'), (KeyCode::End, NONE)] "" => Action::End;
        "x X" [key('x')] "to what went wrong next, and why; to the last one" => Action::Step(Unit::Error, Direction::Forward);
        "" [key('X')] "" => Action::Step(Unit::Error, Direction::Back);
        "f" [key('f')] "to a region of a field that is asked for" => Action::AskField;
        "; '" [key(';')] "to the next region of that field, the last one" => Action::Step(Unit::Field, Direction::Forward);
        "" [key('\'')] "" => Action::Step(Unit::Field, Direction::Back);
        ":" [key(':')] "to a byte" => Action::AskByte;
        "/ n N" [key('/')] "search, the next, the last one" => Action::AskSearch;
        "" [key('n')] "" => Action::Step(Unit::Found, Direction::Forward);
        "" [key('N')] "" => Action::Step(Unit::Found, Direction::Back);
    }
    "Running" {
        "Space" [key(' ')] "play, pause" => Action::Play;
        "+ -" [key('+'), key('=')] "faster, slower" => Action::Faster;
        "" [key('-')] "" => Action::Slower;
        "b" [key('b')] "breakpoints" => Action::AskBreakpoints;
        "c C" [key('c')] "on to the next breakpoint, back to the last one" => Action::Step(Unit::Break, Direction::Forward);
        "" [key('C')] "" => Action::Step(Unit::Break, Direction::Back);
        "K" [key('K')] "how the response is cut into chunks" => Action::AskChunking;
        "o" [key('o')] "another sample" => Action::AskSample;
    }
    "Changing" {
        "e" [key('e')] "edit the template (when it has the focus) or the response" => Action::Edit;
        "p" [key('p')] "edit the prefix" => Action::EditPrefix;
        "r" [key('r')] "repair in the template what the linter knows how to" => Action::Mend;
        "s" [key('s')] "save the sample and its message as a fixture" => Action::AskFixture;
        "S ^S" [key('S'), (KeyCode::Char('s'), CONTROL)] "save the template" => Action::SaveTemplate;
    }
    "Looking" {
        "Tab" [(KeyCode::Tab, NONE)] "the next pane (Shift-Tab the last one)" => Action::NextPane(Direction::Forward);
        "" [(KeyCode::BackTab, SHIFT), (KeyCode::BackTab, NONE)] "" => Action::NextPane(Direction::Back);
        "1…7" [key('1')] "Response, Events, State, Message, Template, Derivation, Deltas" => Action::Focus(Pane::Response);
        "" [key('2')] "" => Action::Focus(Pane::Events);
        "" [key('3')] "" => Action::Focus(Pane::State);
        "" [key('4')] "" => Action::Focus(Pane::Message);
        "" [key('5')] "" => Action::Focus(Pane::Template);
        "" [key('6'), key('d')] "" => Action::Focus(Pane::Derivation);
        "" [key('7'), key('D')] "" => Action::Focus(Pane::Deltas);
        "z" [key('z')] "the pane alone, or all of them" => Action::Zoom;
        "↓ ↑" [(KeyCode::Down, NONE), key('j')] "in the pane (also j k)" => Action::Move(1);
        "" [(KeyCode::Up, NONE), key('k')] "" => Action::Move(-1);
        "PgDn" [(KeyCode::PageDown, NONE)] "a page (and PgUp)" => Action::Page(1);
        "" [(KeyCode::PageUp, NONE)] "" => Action::Page(-1);
        "Enter" [(KeyCode::Enter, NONE)] "fold, show in full, go to the marker's place" => Action::Open;
        "m" [key('m')] "from the delimiter at the cursor to its marker" => Action::Evidence;
        "w" [key('w')] "show every space" => Action::Spaces;
        "a" [key('a')] "in State: what the grammar allows next" => Action::Grammar;
        "H" [key('H')] "the bytes around the place, in hexadecimal" => Action::Bytes;
        "y Y" [key('y')] "copy the value, its JSON path" => Action::CopyValue;
        "" [key('Y')] "" => Action::CopyPath;
        "? F1" [key('?')] "this help (F1 also where ? is text)" => Action::Help;
        "Esc" [(KeyCode::Esc, NONE)] "back" => Action::Leave;
        "q ^C" [key('q')] "quit" => Action::Quit;
    }
};

/// The keys of the screens on which one does not move about.
const SCREENS: &[(&str, &str)] = &[
    (
        "Editing",
        "  Esc     done (the parse runs along with every valid edit)
  ^Z ^Y   undo, redo
  ^S      save: the template to its file, the response as a fixture
  ^← ^→   by words; ^A ^E, Home End: in the line; ^Home ^End: in the text
  ^W ^U ^K  remove the word before the cursor, the line before it, behind it
",
    ),
    (
        "Answering",
        "  Enter   that is it
  Esc     leave it
  chunks are whole, words, recorded, random:SEED, 3 (characters), 3b (bytes),
  tokens:FILE (a tokenizer.json)
  breakpoints are field NAME, event KIND, text TEXT; kinds are open, text,
  close, error, stray, unclaimed, failure
",
    ),
    (
        "Choosing",
        "  ↓ ↑     up and down (also j k PgDn PgUp Home End)
  Enter   choose; a breakpoint is turned on or off
  /       the samples that have a text in them
  a       another one: a breakpoint, a chunking
  d       delete a breakpoint
  Esc     back
",
    ),
    (
        "Saving",
        "  y       save what is shown (also Enter)
  n       save nothing (also Esc)
  ↓ ↑     in what changes
",
    ),
    (
        "Quitting",
        "  y       quit, and lose what is not saved (also ^C)
  s       save it first
  n       do not quit (also Esc)
",
    ),
    (
        "Reading",
        "  ↓ ↑     in the text (also PgDn PgUp Home)
  y       copy it
  Esc     back
",
    ),
];

const MOUSE_AND_LOOKS: &str = "\
The mouse
  a click chooses a pane, a place in the response, an event, a member of the
  message, a marker, a row of a list; a second one does what Enter does
  the wheel moves what lies under it
How it looks
  bold, underlined   a delimiter
  underlined         held back: it may be a delimiter
  reversed           the next character to arrive
  dim                not yet arrived
  crossed out, red   unclaimed: no field takes it; ! marks such rows
  italic, red        a marker that stands in a field's text; so are these
  the letter before a row is the field that it begins in
  ⏎ ⇥ · ⟨202E⟩      characters that cannot be seen
";

/// The lines of the help: first those of the screen that is shown, then those of the others.
pub(crate) fn help(mode: &Mode) -> String {
    let here = match mode {
        Mode::Normal => None,
        Mode::Edit(_) => Some("Editing"),
        Mode::Prompt(_) => Some("Answering"),
        Mode::Pick(_) => Some("Choosing"),
        Mode::Confirm(_) => Some("Saving"),
        Mode::Show(_) => Some("Reading"),
        Mode::Quit(_) => Some("Quitting"),
    };
    let section = |(heading, text): &(&str, &str)| format!("{heading}\n{text}");
    let is_here = |(heading, _): &&(&str, &str)| Some(*heading) == here;
    let mut text: String = SCREENS.iter().filter(is_here).map(section).collect();
    for (heading, bindings) in TABLE {
        text.push_str(heading);
        text.push('\n');
        for binding in bindings.iter().filter(|binding| !binding.shown.is_empty()) {
            text.push_str(&format!("  {:<7} {}\n", binding.shown, binding.help));
        }
    }
    let others = SCREENS.iter().filter(|screen| !is_here(screen));
    text.extend(others.map(section));
    text.push_str(MOUSE_AND_LOOKS);
    text
}

/// The action of a key now; `None` for one that does nothing.
pub(crate) fn action(state: &State, event: KeyEvent) -> Option<Action> {
    let KeyEvent {
        code, modifiers, ..
    } = event;
    if modifiers.contains(CONTROL) && matches!(code, KeyCode::Char('c' | 'q')) {
        return Some(Action::Quit);
    }
    if code == KeyCode::F(1) {
        return Some(Action::Help);
    }
    match &state.mode {
        Mode::Normal => normal(code, modifiers),
        Mode::Edit(_) | Mode::Prompt(_) => writing(code, modifiers),
        Mode::Pick(_) | Mode::Confirm(_) | Mode::Show(_) => choosing(code),
        Mode::Quit(_) => quitting(code),
    }
}

fn quitting(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char('y') => Action::Yes,
        KeyCode::Char('s' | 'S') => Action::SaveTemplate,
        KeyCode::Char('n') | KeyCode::Esc => Action::Leave,
        KeyCode::Char('?') => Action::Help,
        _ => return None,
    })
}

fn normal(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
    // The character itself tells that Shift was held.
    let modifiers = match code {
        KeyCode::Char(_) => modifiers - SHIFT,
        _ => modifiers,
    };
    TABLE
        .iter()
        .flat_map(|(_, bindings)| *bindings)
        .find(|binding| binding.keys.contains(&(code, modifiers)))
        .map(|binding| (binding.action)())
}

fn writing(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
    let by_word = modifiers.intersects(CONTROL | KeyModifiers::ALT);
    Some(match code {
        KeyCode::Char('z') if modifiers.contains(CONTROL) => Action::Undo,
        KeyCode::Char('y') if modifiers.contains(CONTROL) => Action::Redo,
        KeyCode::Char('s') if modifiers.contains(CONTROL) => Action::SaveTemplate,
        KeyCode::Char('a') if modifiers.contains(CONTROL) => Action::Go(Motion::LineStart),
        KeyCode::Char('e') if modifiers.contains(CONTROL) => Action::Go(Motion::LineEnd),
        KeyCode::Char('w') if modifiers.contains(CONTROL) => Action::Remove(Motion::WordLeft),
        KeyCode::Char('u') if modifiers.contains(CONTROL) => Action::Remove(Motion::LineStart),
        KeyCode::Char('k') if modifiers.contains(CONTROL) => Action::Remove(Motion::LineEnd),
        KeyCode::Char(c) if !by_word => Action::Type(c.to_string()),
        KeyCode::Tab => Action::Type("  ".to_owned()),
        KeyCode::Enter => Action::Open,
        KeyCode::Esc => Action::Leave,
        KeyCode::Backspace if by_word => Action::Remove(Motion::WordLeft),
        KeyCode::Backspace => Action::Remove(Motion::Left),
        KeyCode::Delete if by_word => Action::Remove(Motion::WordRight),
        KeyCode::Delete => Action::Remove(Motion::Right),
        KeyCode::Left if by_word => Action::Go(Motion::WordLeft),
        KeyCode::Right if by_word => Action::Go(Motion::WordRight),
        KeyCode::Left => Action::Go(Motion::Left),
        KeyCode::Right => Action::Go(Motion::Right),
        KeyCode::Up => Action::Vertical(Direction::Back),
        KeyCode::Down => Action::Vertical(Direction::Forward),
        KeyCode::PageUp => Action::Page(-1),
        KeyCode::PageDown => Action::Page(1),
        KeyCode::Home if by_word => Action::Go(Motion::Start),
        KeyCode::End if by_word => Action::Go(Motion::End),
        KeyCode::Home => Action::Go(Motion::LineStart),
        KeyCode::End => Action::Go(Motion::LineEnd),
        _ => return None,
    })
}

fn choosing(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => Action::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Action::Move(1),
        KeyCode::PageUp => Action::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Action::Page(1),
        KeyCode::Home | KeyCode::Char('g') => Action::Start,
        KeyCode::End | KeyCode::Char('G') => Action::End,
        KeyCode::Enter => Action::Open,
        KeyCode::Char('y') => Action::Yes,
        KeyCode::Char('n') => Action::No,
        KeyCode::Char('a') => Action::Add,
        KeyCode::Char('/') => Action::AskSearch,
        KeyCode::Char('d') | KeyCode::Delete => Action::Delete,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Esc | KeyCode::Char('q') => Action::Leave,
        _ => return None,
    })
}

/// Keys as they are written in scripts: each character is a key, `<right>`, `<enter>`, `<c-s>` and the like are others, and
/// `<lt>` is `<`. `None` when a name is not known.
pub(crate) fn read(script: &str) -> Option<Vec<KeyEvent>> {
    let mut keys = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let Some(named) = rest.strip_prefix('<') else {
            keys.push(KeyEvent::new(KeyCode::Char(c), NONE));
            rest = &rest[c.len_utf8()..];
            continue;
        };
        let (name, after) = named.split_once('>')?;
        keys.push(named_key(name)?);
        rest = after;
    }
    Some(keys)
}

fn named_key(name: &str) -> Option<KeyEvent> {
    if let Some(name) = name.strip_prefix("c-") {
        return Some(KeyEvent::new(named_key(name)?.code, CONTROL));
    }
    if let Some(name) = name.strip_prefix("s-") {
        return Some(KeyEvent::new(named_key(name)?.code, SHIFT));
    }
    let code = match name {
        "right" => KeyCode::Right,
        "left" => KeyCode::Left,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "space" => KeyCode::Char(' '),
        "lt" => KeyCode::Char('<'),
        "f1" => KeyCode::F(1),
        _ => {
            let mut letters = name.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return None;
            };
            KeyCode::Char(letter)
        }
    };
    Some(KeyEvent::new(code, NONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        let mut seen = Vec::new();
        for binding in TABLE.iter().flat_map(|(_, bindings)| *bindings) {
            for key in binding.keys {
                assert!(!seen.contains(key), "{key:?}");
                seen.push(*key);
            }
        }
    }

    #[test]
    fn scripts_name_keys() {
        let codes = |script: &str| -> Option<Vec<KeyCode>> {
            read(script).map(|keys| keys.iter().map(|key| key.code).collect())
        };
        assert_eq!(
            codes("a<enter><lt><c-s>"),
            Some(vec![
                KeyCode::Char('a'),
                KeyCode::Enter,
                KeyCode::Char('<'),
                KeyCode::Char('s')
            ])
        );
        assert_eq!(codes("<nope>"), None);
        assert_eq!(codes("<a"), None);
    }
}
