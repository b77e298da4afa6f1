//! Lookup of operations by mnemonic.

use crate::{
    ops::{OpInfo, TABLE},
    text::cursor::Cursor,
};

/// Reads a mnemonic and returns its operation, if there is one.
#[inline(always)]
pub(super) fn mnemonic(cursor: &mut Cursor<'_>) -> Option<&'static OpInfo> {
    if let Some((key, length)) = cursor.word().and_then(short_name) {
        let mut place = place_of(key);
        while let Some((known, row)) = SHORT[place] {
            // A name in the text that ends in NUL bytes has the same key as a shorter mnemonic.
            if key == known && length == row.mnemonic.len() {
                cursor.advance(length);
                return Some(row);
            }
            place = after(place);
        }
    }
    let (row, end) = any_mnemonic(*cursor);
    cursor.rewind(end);
    row
}

#[inline(never)]
fn any_mnemonic(mut cursor: Cursor<'_>) -> (Option<&'static OpInfo>, usize) {
    let name = cursor.kind();
    (TABLE.iter().find(|row| row.mnemonic.as_bytes() == name).copied(), cursor.position())
}

/// The bytes of a word before its first space, padded with zeros, and their number.
#[inline(always)]
fn short_name(word: u64) -> Option<(u64, usize)> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    let spaces = word ^ (LOW * b' ' as u64);
    // The lowest set bit is in the first byte that is 0.
    let found = spaces.wrapping_sub(LOW) & !spaces & HIGH;
    let bits = found.trailing_zeros() & !7;
    (found != 0).then(|| (word & ((1 << bits) - 1), (bits / 8) as usize))
}

const fn place_of(key: u64) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (64 - PLACES.ilog2())) as usize
}

/// The next slot to try after an occupied one.
const fn after(place: usize) -> usize {
    (place + 1) % PLACES
}

/// Large enough that most slots are empty, because a search ends at an empty slot.
const PLACES: usize = (4 * TABLE.len()).next_power_of_two();

/// 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The operations whose mnemonics have at most seven bytes, in a hash table with linear probing.
static SHORT: [Option<(u64, &OpInfo)>; PLACES] = {
    let mut places: [Option<(u64, &OpInfo)>; PLACES] = [None; PLACES];
    let mut row = 0;
    while row < TABLE.len() {
        let name = TABLE[row].mnemonic.as_bytes();
        row += 1;
        if name.len() >= 8 {
            continue;
        }
        let (mut key, mut byte) = (0, 0);
        while byte < name.len() {
            key |= (name[byte] as u64) << (8 * byte);
            byte += 1;
        }
        let mut place = place_of(key);
        while places[place].is_some() {
            place = after(place);
        }
        places[place] = Some((key, TABLE[row - 1]));
    }
    places
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextForm;

    /// The mnemonic at the start of a text, and the position of its end.
    fn found(text: &str) -> (Option<&'static str>, usize) {
        let mut cursor = Cursor::new(text, TextForm::Mic);
        (mnemonic(&mut cursor).map(|row| row.mnemonic), cursor.position())
    }

    #[test]
    fn every_mnemonic_is_found_and_nothing_else() {
        for name in TABLE.iter().map(|row| row.mnemonic) {
            for after in
                ["", " N1 T0", "  ", "\t", "\r\n", "\nO N1 and more", "\0 N1 N2 T0", "\u{20ac} N1 N2"]
            {
                assert_eq!(found(&format!("{name}{after}")), (Some(name), name.len()), "{name}{after:?}");
            }
            for other in [format!("{name}q N1 N2"), format!("{name}. N1"), format!("q{name} N1")] {
                assert_eq!(found(&other).0, None, "{other}");
            }
        }
        for other in ["", " ", "        ", " add N1 N1", "\0\0\0 N1 N1 T0", "\u{e9} N1 N1 T0"] {
            assert_eq!(found(other), (None, 0), "{other:?}");
        }
    }
}
