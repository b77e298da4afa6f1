//! Changes texts at random, for tests of what reads them.

use mind_core::random::Random;

/// Changes, adds, removes or repeats a byte or a piece, or exchanges two lines. Most lines are still well formed.
pub fn change(text: &mut Vec<u8>, random: &mut Random) {
    const BYTES: &[u8] = b"0123456789NMSTO%[](){};:,.=-+*#\"\\ \nex\xff";
    if text.is_empty() {
        return;
    }
    let at = random.below(text.len());
    match random.below(6) {
        0 => text[at] = *random.pick(BYTES),
        1 => text.insert(at, *random.pick(BYTES)),
        2 => _ = text.remove(at),
        3 => text.truncate(at),
        4 => {
            let end = (at + 1 + random.below(12)).min(text.len());
            let piece: Vec<u8> = text[at..end].to_vec();
            let to = random.below(text.len());
            text.splice(to..to, piece);
        }
        _ => {
            let lines: Vec<Vec<u8>> =
                text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let (from, to) = (random.below(lines.len()), random.below(lines.len()));
            let mut lines = lines;
            lines.swap(from, to);
            *text = lines.concat();
        }
    }
}
