//! Collects every program in the repository: from files, pages and Rust sources.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};

/// A program and its place.
pub struct Program {
    /// The file, and the number of the program in it.
    pub place: String,
    /// The extension of files in its form.
    pub extension: &'static str,
    pub text: String,
}

/// The folders without programs of the project.
const PASSED_OVER: [&str; 4] = ["target", ".git", "images", "peers"];

/// Every program, without duplicates, in the order of their places.
pub fn programs() -> Vec<Program> {
    let mut found = Found::default();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for file in files(root) {
        let place = file.strip_prefix(root).expect("it is below the root").display().to_string();
        let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let text = text.replace("\r\n", "\n");
        found.place = place;
        match extension {
            "mic" => found.add("mic", &text),
            "ir" => found.add("ir", &text),
            "mind" => found.add("mind", &text),
            "ks" => found.add("ks", &text),
            "md" => found.page(&text),
            "rs" => found.rust(&text.parse().expect("the repository's sources are of Rust's tokens"), &text),
            "txt" => found.cases(&text),
            _ => {}
        }
    }
    let mut programs: Vec<_> = found.programs.into_values().collect();
    programs.sort_by(|a, b| a.place.cmp(&b.place));
    programs
}

fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the repository can be read") {
            let entry = entry.expect("the repository can be read");
            let passed_over = PASSED_OVER.iter().any(|name| entry.file_name() == *name);
            match entry.file_type().expect("the repository can be read") {
                kind if kind.is_dir() && !passed_over => folders.push(entry.path()),
                kind if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[derive(Default)]
struct Found {
    place: String,
    /// The programs of the current place so far.
    programs: BTreeMap<(&'static str, String), Program>,
}

impl Found {
    fn add(&mut self, extension: &'static str, text: &str) {
        let count = self.programs.len();
        let key = (extension, text.to_owned());
        let program =
            || Program { place: format!("{}, number {count}", self.place), extension, text: text.to_owned() };
        self.programs.entry(key).or_insert_with(program);
    }

    /// Adds the programs in code fences of a page.
    fn page(&mut self, text: &str) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(kind) = line.trim_start().strip_prefix("```") else { continue };
            let inside: String = lines
                .by_ref()
                .take_while(|line| line.trim() != "```")
                .map(|line| format!("{line}\n"))
                .collect();
            let kind = kind.split([' ', ',']).next().unwrap_or_default();
            match kind {
                "mic" => self.add("mic", &inside),
                "core-ir" => self.add("ir", &inside),
                "lisp" => self.add("ks", &inside),
                "" | "rust" if inside.contains("mind!") => {
                    // Hidden lines of a page begin with `# `.
                    let shown: String =
                        inside.lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
                    if let Ok(tokens) = shown.parse() {
                        self.rust(&tokens, &shown);
                    }
                }
                _ => self.text(&inside),
            }
        }
    }

    /// Adds a text if it begins like a program.
    fn text(&mut self, text: &str) {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
        let first = first.unwrap_or_default();
        let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
        if begins(&["mic@"]) {
            self.add("mic", text);
        } else if begins(&["%0 ="]) {
            self.add("ir", text);
        } else if begins(&["fn ", "pub fn ", "#[grad", "const ", "struct ", "use ", "|x: "]) {
            self.add("mind", text);
        } else if begins(&["(def ", "(edef ", "(rule ", "(gdef "]) {
            self.add("ks", text);
        }
    }

    /// Adds the programs of recorded cases: a module below `=== module`, or a program above each `----`.
    fn cases(&mut self, text: &str) {
        if let Some((_, rest)) = text.split_once("=== module\n") {
            return self.text(rest.split("\n=== ").next().unwrap_or_default());
        }
        for case in text.split("\n====\n") {
            if let Some((program, _)) = case.split_once("\n----\n") {
                self.text(&format!("{program}\n"));
            }
        }
    }

    /// Adds the programs in `mind! { … }`, in strings and in documentation.
    fn rust(&mut self, tokens: &TokenStream, text: &str) {
        let (mut open, mut documentation) = (vec![tokens.clone()], String::new());
        while let Some(tokens) = open.pop() {
            let trees: Vec<TokenTree> = tokens.into_iter().collect();
            for (position, tree) in trees.iter().enumerate() {
                match tree {
                    TokenTree::Group(group) => {
                        let called = |name: &str| {
                            position >= 2
                                && matches!(&trees[position - 1], TokenTree::Punct(mark) if mark.as_char() == '!')
                                && matches!(&trees[position - 2], TokenTree::Ident(callee) if callee == name)
                        };
                        if called("mind") {
                            let range =
                                group.span_open().byte_range().end..group.span_close().byte_range().start;
                            self.add("mind", &text[range]);
                        } else {
                            open.push(group.stream());
                        }
                    }
                    TokenTree::Literal(literal) => {
                        let Ok(string) = syn::parse_str::<syn::LitStr>(&literal.to_string()) else {
                            continue;
                        };
                        let is_documentation = position >= 2
                            && matches!(&trees[position - 2], TokenTree::Ident(name) if name == "doc");
                        match is_documentation {
                            true => documentation += &format!("{}\n", string.value()),
                            false => self.text(&string.value()),
                        }
                    }
                    TokenTree::Ident(_) | TokenTree::Punct(_) => {}
                }
            }
        }
        if !documentation.is_empty() {
            let lines =
                documentation.lines().map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)));
            self.page(&lines.collect::<String>());
        }
    }
}
