//! Cases: a workload, its extents, and the source of its inputs.

use std::io;
use std::path::{Path, PathBuf};

/// A workload at one size.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the computation: `layer`, `mlp_grad`, …
    pub workload: String,
    /// The extents, in the order that the workload defines.
    pub extents: Vec<usize>,
    inputs: Inputs,
}

#[derive(Clone, Debug)]
enum Inputs {
    /// Files `name.bin` in this folder, as little-endian `f32`.
    Files(PathBuf),
    /// Generated numbers that depend only on the name and the position.
    Made,
}

impl Case {
    /// A case with generated inputs, the same in every run.
    pub fn made(workload: &str, extents: &[usize]) -> Self {
        Self { workload: workload.to_owned(), extents: extents.to_vec(), inputs: Inputs::Made }
    }

    /// The cases in the file `cases.txt` of a folder. A line holds a workload and its extents. The inputs of a case are
    /// in a folder beside that file, which has the name of the case.
    pub fn all(folder: &Path) -> io::Result<Vec<Self>> {
        let list = std::fs::read_to_string(folder.join("cases.txt"))?;
        list.lines().map(|line| Self::from_line(folder, line)).collect()
    }

    fn from_line(folder: &Path, line: &str) -> io::Result<Self> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("cases.txt: `{line}` is no case"));
        let mut words = line.split_whitespace();
        let workload = words.next().ok_or_else(wrong)?;
        let extents = words.map(|word| word.parse().map_err(|_| wrong())).collect::<io::Result<Vec<_>>>()?;
        let mut case = Self::made(workload, &extents);
        case.inputs = Inputs::Files(folder.join(case.name()));
        Ok(case)
    }

    /// The name of the case, for example `layer_32x784x256`.
    pub fn name(&self) -> String {
        format!("{}_{}", self.workload, self.size())
    }

    /// The extents as text, for example `32x784x256`.
    pub fn size(&self) -> String {
        self.extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
    }

    /// Returns the input with this name, of `len` elements.
    ///
    /// # Panics
    ///
    /// The file is missing or has another length.
    pub fn input(&self, name: &str, len: usize) -> Vec<f32> {
        let data = match &self.inputs {
            Inputs::Files(folder) => {
                let path = folder.join(format!("{name}.bin"));
                read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            }
            Inputs::Made => self.make(name, len),
        };
        assert_eq!(data.len(), len, "{}: {name} has another length", self.name());
        data
    }

    /// The expected output with this name, if the case comes from files.
    pub fn reference(&self, output: &str) -> Option<io::Result<Vec<f32>>> {
        match &self.inputs {
            Inputs::Files(folder) => Some(read(&folder.join(format!("ref_{output}.bin")))),
            Inputs::Made => None,
        }
    }

    /// Uniform numbers between -1 and 1. Weights are divided by the square root of their fan-in, and targets are
    /// one-hot rows.
    fn make(&self, name: &str, len: usize) -> Vec<f32> {
        let seed = name.bytes().fold(0, |seed: usize, byte| seed * 31 + usize::from(byte));
        let extents = &self.extents;
        let fan_in = match name {
            "w" | "w1" => extents[1],
            "w2" => extents[2],
            "k" => extents[3] * extents[5] * extents[5],
            "t" => {
                let classes = extents[1];
                let hot = |i: usize| i % classes == (i / classes).wrapping_mul(7) % classes;
                return (0..len).map(|i| if hot(i) { 1.0 } else { 0.0 }).collect();
            }
            _ => 1,
        };
        let scale = (fan_in as f32).sqrt().recip();
        (0..len).map(|i| noise(i + seed * 1_000_003) * scale).collect()
    }
}

/// A number between -1 and 1 for each index, by the finaliser of MurmurHash3.
fn noise(index: usize) -> f32 {
    let mut bits = index as u64;
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        bits = (bits ^ (bits >> 33)).wrapping_mul(factor);
    }
    (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn read(path: &Path) -> io::Result<Vec<f32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word)).collect())
}
