//! Bytes as people read them: in hexadecimal, with the characters that they are beside them.

use std::fmt::Write as _;

/// How many bytes stand in a row.
const ROW: usize = 16;

/// How many bytes before and behind the place are shown.
const AROUND: usize = 16 << 10;

/// Bytes around a place.
#[derive(Debug)]
pub(crate) struct Dump {
    /// Rows of an offset, the bytes, and the characters; `.` stands for a byte that is no character by itself.
    pub(crate) text: String,
    /// The row that the place is in.
    pub(crate) row: usize,
}

/// The bytes around a place; the byte at the place has a sign before it.
pub(crate) fn dump(bytes: &[u8], at: usize) -> Dump {
    let from = at.saturating_sub(AROUND) / ROW * ROW;
    let to = at.saturating_add(AROUND).min(bytes.len());
    let mut text = String::new();
    for (index, row) in bytes
        .get(from..to)
        .unwrap_or_default()
        .chunks(ROW)
        .enumerate()
    {
        let offset = from + index * ROW;
        let _ = write!(text, "{offset:06x} ");
        for column in 0..ROW {
            let sign = if offset + column == at { '>' } else { ' ' };
            match row.get(column) {
                Some(byte) => {
                    let _ = write!(text, "{sign}{byte:02x}");
                }
                None => text.push_str("   "),
            }
        }
        text.push_str("  ");
        let shown = |byte: &u8| {
            if byte.is_ascii_graphic() || *byte == b' ' {
                char::from(*byte)
            } else {
                '.'
            }
        };
        text.extend(row.iter().map(shown));
        text.push('\n');
    }
    Dump {
        row: (at.min(bytes.len()) - from) / ROW,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_bytes_and_characters() {
        let found = dump("Hi é\n<end> and so on".as_bytes(), 3);
        assert_eq!(
            found.text,
            "000000  48 69 20>c3 a9 0a 3c 65 6e 64 3e 20 61 6e 64 20  Hi ...<end> and \n\
             000010  73 6f 20 6f 6e                                   so on\n"
        );
        assert_eq!(found.row, 0);
        assert_eq!(dump(b"", 0).text, "");
    }

    #[test]
    fn of_much_text_what_is_near_is_shown() {
        let found = dump(&[b'a'; 100_000], 50_000);
        assert!(found.text.len() < 200_000);
        let row = found.text.lines().nth(found.row).unwrap_or_default();
        assert!(row.starts_with("00c350") && row.contains(">61"), "{row}");
    }
}
