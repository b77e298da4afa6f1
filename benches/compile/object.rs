//! Measures the machine code in a program.

use std::io;
use std::path::Path;

/// The total size in bytes of the executable sections of a 64-bit little-endian ELF file.
///
/// # Errors
///
/// The file cannot be read or has another format.
pub fn code_size(path: &Path) -> io::Result<u64> {
    let file = std::fs::read(path)?;
    code_in(&file).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a 64-bit ELF file"))
}

fn code_in(file: &[u8]) -> Option<u64> {
    const EXECUTABLE: u64 = 4;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    // The offset of the section headers, their size and their number.
    let (start, size, count) = (number(file, 0x28, 8)?, number(file, 0x3a, 2)?, number(file, 0x3c, 2)?);
    (0..count)
        .map(|section| {
            let at = usize::try_from(start + section * size).ok()?;
            let (flags, bytes) = (number(file, at + 0x08, 8)?, number(file, at + 0x20, 8)?);
            Some(if flags & EXECUTABLE != 0 { bytes } else { 0 })
        })
        .sum()
}

fn number(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = file.get(at..at + bytes)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
