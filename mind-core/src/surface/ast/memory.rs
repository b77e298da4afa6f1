//! `#[memory(max = "64 MiB")]`.

use crate::diag::Site;

/// A bound on the memory for temporaries of a function.
#[derive(Clone, Debug)]
pub struct MemoryBound {
    /// The number of bytes, at least 1.
    pub bytes: u64,
    /// The bound as written, `64 MiB`.
    pub text: String,
    /// The attribute.
    pub site: Site,
}

impl MemoryBound {
    /// The units, with their numbers of bytes.
    const UNITS: [(&'static str, u64); 7] = [
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];

    /// The bound that a text such as `64 MiB` states; `None` for any other text.
    pub fn read(text: &str, site: Site) -> Option<Self> {
        let digits = text.find(|found: char| !found.is_ascii_digit())?;
        let (count, unit) = (text[..digits].parse::<u64>().ok()?, text[digits..].trim_start());
        let (_, size) = Self::UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let bytes = count.checked_mul(size).filter(|bytes| *bytes > 0)?;
        Some(Self { bytes, text: text.to_owned(), site })
    }
}
