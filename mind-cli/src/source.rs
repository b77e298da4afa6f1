//! Reads texts from files and standard input, and determines their form.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use mind_core::diag::Code;

use crate::{
    args::Form,
    report::{Failure, Mistake, Outcome, Source, Spot},
    spelling::distance,
};

/// The maximum number of bytes of a text.
pub const MOST_BYTES: u64 = 10 << 20;

/// The number of bytes of a text over the limit that are used to determine its form.
const BEGINNING: usize = 4096;

/// The text of a file, and its form.
pub fn read_source(file: &Path, from: Option<Form>) -> Outcome<Rc<Source>> {
    let is_stdin = file.as_os_str() == "-";
    let name = name_of(file);
    let bytes = read_bytes(file, &name, is_stdin, from)?;
    let form_of_name = if is_stdin { None } else { form_of_extension(file, &name, from)? };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_large(name, &bytes, from.or(form_of_name)));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let bytes = &error.as_bytes()[offset..];
            let first: Vec<_> = bytes.iter().take(4).map(|byte| format!("{byte:#04x}")).collect();
            let before = String::from_utf8_lossy(&error.as_bytes()[..offset]).into_owned();
            let line = before.lines().count().max(1) + usize::from(before.ends_with('\n'));
            let form = from.or(form_of_name).unwrap_or_else(|| guess(&before).unwrap_or(Form::Mic));
            let source = Rc::new(Source { name, form, text: String::new() });
            let message = format!("invalid UTF-8 at byte {offset}: {}", first.join(" "));
            let mistake = Mistake::new(Code::E1001, message).at(&source, Spot::line(line as u32));
            return Err(Failure::mistake(mistake));
        }
    };
    let form = match from.or(form_of_name).or_else(|| guess(&text)) {
        Some(form) => form,
        None if text.trim().is_empty() => return Err(Failure::usage(format!("{name} is empty"))),
        None => {
            let message = format!("cannot detect the format of {name}");
            return Err(Failure::with_help(message, "add --from mic, core-ir, json or mind"));
        }
    };
    Ok(Rc::new(Source { name, form, text }))
}

/// The name of a file in messages.
pub fn name_of(file: &Path) -> String {
    if file.as_os_str() == "-" { "<stdin>".to_owned() } else { file.display().to_string() }
}

/// E1008 at the line that passes the limit.
fn too_large(name: String, bytes: &[u8], form: Option<Form>) -> Failure {
    let within = &bytes[..MOST_BYTES as usize];
    let form = form.or_else(|| guess(&String::from_utf8_lossy(&within[..BEGINNING]))).unwrap_or(Form::Mic);
    let line = within.iter().filter(|byte| **byte == b'\n').count() + 1;
    let message =
        format!("{name} has more than the limit of {MOST_BYTES} bytes (10 MiB), which this line passes");
    let source = Rc::new(Source { name, form, text: String::new() });
    let help = match form {
        Form::Ks => "split the program, or compute constants instead of listing their elements",
        Form::Mic | Form::CoreIr | Form::Json | Form::Mind => {
            "split the program; a large constant can be an input, which `mind run --input` reads from a file"
        }
    };
    Failure::mistake(Mistake::new(Code::E1008, message).at(&source, Spot::line(line as u32)).help(help))
}

/// The bytes of a file, at most [`MOST_BYTES`] + 1.
fn read_bytes(file: &Path, name: &str, is_stdin: bool, from: Option<Form>) -> Outcome<Vec<u8>> {
    let unreadable = |error: io::Error| {
        let help = match error.kind() {
            io::ErrorKind::NotFound => near_file(file).map(|near| format!("write {near}")),
            _ => None,
        };
        let message = format!("cannot read {name}: {}", reason(&error));
        Failure::Usage { message, help }
    };
    let mut bytes = Vec::new();
    if is_stdin {
        io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        let meta = fs::metadata(file).map_err(unreadable)?;
        if meta.is_dir() {
            let example = if from == Some(Form::Ks) { "gmm.ks" } else { "net.mic" };
            let help = format!("name a file in it, as {}", file.join(example).display());
            return Err(Failure::with_help(format!("cannot read {name}: it is a directory"), help));
        }
        let file = fs::File::open(file).map_err(unreadable)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    Ok(bytes)
}

/// The message of the system, in lower case and without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_lowercase().chain(characters).collect())
}

/// A file in the same folder with a similar name.
fn near_file(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = fs::read_dir(parent).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut near: Vec<(usize, String)> =
        names.map(|other| (distance(name, &other), other)).filter(|(distance, _)| *distance <= 2).collect();
    near.sort();
    let (_, best) = near.into_iter().next()?;
    Some(file.with_file_name(best).display().to_string())
}

/// The form of a file by its extension. An extension of another kind of file is an error.
fn form_of_extension(file: &Path, name: &str, from: Option<Form>) -> Outcome<Option<Form>> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "mic" => Ok(Some(Form::Mic)),
        "ir" => Ok(Some(Form::CoreIr)),
        "json" => Ok(Some(Form::Json)),
        "mind" => Ok(Some(Form::Mind)),
        "ks" => Ok(Some(Form::Ks)),
        other @ ("npy" | "npz" | "svg" | "dot" | "png" | "rs" | "onnx" | "pb" | "zip" | "gz")
            if from.is_none() =>
        {
            let message = format!("{name} is not a program: .{other} files have other contents");
            Err(Failure::with_help(
                message,
                "programs are .mic, .ir, .json or .mind files; --from reads any file",
            ))
        }
        _ => Ok(None),
    }
}

/// The form of a text by its first line.
fn guess(text: &str) -> Option<Form> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next()?;
    let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
    if begins(&["mic@"]) {
        Some(Form::Mic)
    } else if begins(&["%", "outputs:"]) {
        Some(Form::CoreIr)
    } else if begins(&["{"]) {
        Some(Form::Json)
    } else if begins(&["fn ", "pub fn ", "//", "const ", "|"]) {
        Some(Form::Mind)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_how_they_begin() {
        assert_eq!(guess("\n# a comment\nmic@1\n"), Some(Form::Mic));
        assert_eq!(guess("%0 = Input () {name=\"x\"} : f32\n"), Some(Form::CoreIr));
        assert_eq!(guess(" {\"format\""), Some(Form::Json));
        assert_eq!(guess("/// A function.\nfn f(x: f32) -> f32 { x }"), Some(Form::Mind));
        assert_eq!(guess("hello"), None);
    }
}
