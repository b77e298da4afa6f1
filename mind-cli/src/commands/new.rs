//! `mind new`: creates a project that trains a network.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    args::NewArguments,
    output::{self, unwritable},
    report::{Failure, Outcome, printable},
    source::reason,
};

/// A file of the project: its path in the project, its text, and its description in the output.
struct Part {
    path: &'static str,
    text: String,
    about: String,
}

/// Runs the command.
pub fn run(arguments: &NewArguments) -> Outcome {
    let folder = &arguments.folder;
    let name = name_of(folder)?;
    let (dependency, about) = match &arguments.path {
        None => (quoted(VERSION), format!("depends on mind-dsl {VERSION}; debug builds are optimised")),
        Some(checkout) => {
            let path = checked_out(checkout)?;
            let about = format!("depends on the mind-dsl in {path}; debug builds are optimised");
            (format!("{{ path = {} }}", quoted(&path)), about)
        }
    };
    let filled = |template: &str| template.replace("{name}", name).replace("{dependency}", &dependency);
    let part = |path, template: &str, about: &str| Part { path, text: filled(template), about: about.into() };
    let parts = [
        part("Cargo.toml", include_str!("../../templates/project/manifest.toml"), &about),
        Part {
            path: "src/main.rs",
            text: include_str!("../../templates/project/main.rs").to_owned(),
            about: "a network that learns to tell two moons apart, and a test of its gradient".to_owned(),
        },
        part(
            "README.md",
            include_str!("../../templates/project/README.md"),
            "how to run, test and change it",
        ),
        part(
            ".gitignore",
            include_str!("../../templates/project/gitignore"),
            "keeps build outputs out of git",
        ),
    ];
    make(folder, &parts)?;
    let files: String = parts.iter().map(|part| format!("  {:<12}  {}\n", part.path, part.about)).collect();
    let shown = folder.display();
    output::print(&printable(&format!("made {shown}\n{files}\nnext:\n  cd {shown}\n  cargo run\n")))
}

/// The version of this crate and of the library, which are published together.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Creates the folder with all files, or nothing.
fn make(folder: &Path, parts: &[Part]) -> Outcome {
    // Fails if the name exists, so that the folder contains only files of this command.
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let message = format!("{} already exists", folder.display());
            Failure::with_help(message, "give another name, or remove it")
        }
        _ => unwritable(folder, &error),
    })?;
    let written = parts.iter().try_for_each(|part| {
        let path = folder.join(part.path);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(&path, &part.text)).map_err(|error| unwritable(&path, &error))
    });
    written.inspect_err(|_| {
        // If removing fails too, the reported failure names the file.
        drop(fs::remove_dir_all(folder));
    })
}

/// The name of the project: the last part of its folder.
fn name_of(folder: &Path) -> Outcome<&str> {
    let Some(name) = folder.file_name() else {
        let message = format!("{} is not a valid project name", folder.display());
        return Err(Failure::with_help(message, EXAMPLE));
    };
    let refused = |why: &str| {
        let message = format!("`{}` cannot be the name of a project: {why}", name.display());
        Failure::with_help(message, EXAMPLE)
    };
    let name = name.to_str().ok_or_else(|| refused("it is not UTF-8"))?;
    refusal(name).map_or(Ok(name), |why| Err(refused(&why)))
}

const EXAMPLE: &str =
    "a name consists of letters from a to z, digits, `-` and `_`, as in `mind new two-moons`";

/// The reason why a crate cannot have this name, because of Cargo or of this project. A name of which Cargo only warns
/// is rejected too.
fn refusal(name: &str) -> Option<String> {
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if let Some(other) = name.chars().find(|letter| !is_allowed(letter)) {
        return Some(format!("it contains {other:?}"));
    }
    if let Some(first) = name.chars().next().filter(|first| !first.is_ascii_alphabetic() && *first != '_') {
        return Some(format!("it starts with {first:?}"));
    }
    let small = name.to_ascii_lowercase().replace('-', "_");
    // Also rejects a single `_`.
    if syn::parse_str::<syn::Ident>(&name.replace('-', "_")).is_err() {
        return Some("it is a keyword of Rust".to_owned());
    }
    let why = match &*small {
        "mind" | "mind_dsl" => "it is the name of the library",
        "alloc" | "core" | "proc_macro" | "std" | "test" => "it is the name of a library of Rust",
        "build" | "deps" | "examples" | "incremental" => "Cargo uses a folder of that name for build output",
        "aux" | "con" | "nul" | "prn" => "it is not a valid file name on Windows",
        port if is_port(port) => "it is not a valid file name on Windows",
        _ => return None,
    };
    Some(why.to_owned())
}

/// `com1` to `lpt9`.
fn is_port(name: &str) -> bool {
    let number = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    number.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
}

/// The absolute path of a checkout of the library.
fn checked_out(folder: &Path) -> Outcome<String> {
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| no_library(folder, &reason(&error)))?;
    if !text.lines().any(|line| line.trim_end() == "name = \"mind-dsl\"") {
        return Err(no_library(folder, "its Cargo.toml belongs to another package"));
    }
    let path: PathBuf = std::path::absolute(folder).map_err(|error| no_library(folder, &reason(&error)))?;
    path.into_os_string().into_string().map_err(|_| no_library(folder, "the path is not UTF-8"))
}

fn no_library(folder: &Path, why: &str) -> Failure {
    let message = format!("{} is not a checkout of mind-dsl: {why}", folder.display());
    Failure::with_help(
        message,
        "--path takes the folder that contains the library's README.md and Cargo.toml",
    )
}

/// A text as a string in TOML.
fn quoted(text: &str) -> String {
    let letter = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_or_the_project_could_not_have_are_refused() {
        for name in ["moons", "two-moons", "two_moons", "Moons2", "_m", "com10", "selfless"] {
            assert_eq!(refusal(name), None, "{name}");
        }
        for (name, why) in [
            ("7moons", "it starts with '7'"),
            ("-m", "it starts with '-'"),
            ("two moons", "it contains ' '"),
            ("mø", "it contains 'ø'"),
            ("_", "it is a keyword of Rust"),
            ("match", "it is a keyword of Rust"),
            ("mind", "it is the name of the library"),
            ("mind-dsl", "it is the name of the library"),
            ("proc-macro", "it is the name of a library of Rust"),
            ("deps", "Cargo uses a folder of that name for build output"),
            ("Con", "it is not a valid file name on Windows"),
            ("LPT1", "it is not a valid file name on Windows"),
        ] {
            assert_eq!(refusal(name).as_deref(), Some(why), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_written_in_whole_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("moons");
        let part = |path| Part { path, text: String::new(), about: String::new() };
        // A folder cannot be created at the path of a file.
        let made = make(&project, &[part("a"), part("a/b")]);
        assert!(matches!(made, Err(Failure::Usage { .. })), "{made:?}");
        assert!(!project.exists());
        assert!(make(&project, &[part("a"), part("b/c")]).is_ok());
        assert!(project.join("b/c").is_file());
    }

    #[test]
    fn paths_are_strings_of_toml() {
        assert_eq!(quoted(r#"C:\a "b""#), r#""C:\\a \"b\"""#);
        assert_eq!(quoted("a\nb"), r#""a\u000Ab""#);
    }
}
