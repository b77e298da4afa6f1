//! Helpers of the tests: folders with files, and the results of commands.

use std::{
    fs,
    path::{Path, PathBuf},
};

use assert_cmd::{Command, cargo::cargo_bin_cmd};
use tempfile::TempDir;

/// A dense layer in MIC, in the format of `mind convert`.
pub const LAYER: &str = "\
mic@1
S0 \"layer\"
S1 \"x\"
S2 \"w\"
S3 \"b\"
T0 [f32;N,3]
T1 [f32;3,2]
T2 [f32;2]
T3 [f32;N,2]
N1 input S1 T0
N2 input S2 T1
N3 input S3 T2
N4 matmul N1 N2 T3
N5 add N3 N4 T3
N6 relu N5 T3
O N6
";

/// The mean square of the layer's result.
pub const LOSS: &str = "\
/// The mean square of a layer.
fn loss<N>(x: f32[N, 3], w: f32[3, 2], b: f32[2]) -> f32 {
    let h = relu(x @ w + b);
    mean(h * h)
}
";

/// A temporary folder, in which the command runs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    /// The folder with an additional file.
    pub fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders can be made");
        fs::write(path, contents).expect("the folder can be written");
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file was written")
    }

    pub fn mind(&self, arguments: &str) -> Answer {
        self.mind_with(arguments, "")
    }

    /// Runs the command with `input` on standard input.
    pub fn mind_with(&self, arguments: &str, input: impl Into<Vec<u8>>) -> Answer {
        answer(self.command(arguments).write_stdin(input))
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = command(self.0.path());
        command.args(arguments.split_whitespace());
        command
    }
}

fn command(folder: &Path) -> Command {
    let mut command = cargo_bin_cmd!("mind");
    command.current_dir(folder).env_remove("NO_COLOR");
    command
}

/// The result of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("the command runs");
    Answer {
        code: output.status.code().expect("the command ended by itself"),
        out: String::from_utf8(output.stdout).expect("it prints text"),
        err: String::from_utf8(output.stderr).expect("it says text"),
    }
}

impl Answer {
    /// The output. Checks that the command succeeded.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!((self.code, &*self.err), (0, ""), "{}", self.out);
        self.out
    }

    /// The messages. Checks that the program has mistakes.
    #[track_caller]
    pub fn mistakes(self) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        self.err
    }

    /// The messages. Checks that the command was used wrongly.
    #[track_caller]
    pub fn misuse(self) -> String {
        assert_eq!((self.code, &*self.out), (2, ""), "{}", self.err);
        self.err
    }
}
