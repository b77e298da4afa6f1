//! Checks the book: programs print the output that pages show, messages are those of rustc, links have targets, and the
//! parser accepts the examples on the page about the grammar. `MIND_BLESS=1 cargo test -p mind-book` records the
//! outputs.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The text before the name of a file that a page shows.
const LISTING_MARK: &str = "<!-- ";

fn book() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}

/// The files of a folder of the book whose names end in `ending`, in order.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(book().join(folder)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<_> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}

/// All parts of `text` between `begin` and `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    text.split(begin).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0)).collect()
}

fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_listings")).args(arguments).output();
    let output = output.expect("the program was built");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {err}");
    out.into_owned()
}

#[test]
fn pages_show_the_output_of_programs_and_rustc() {
    let listed: BTreeSet<_> = run(&["--list"]).lines().map(str::to_owned).collect();
    let is_program = |path: &PathBuf| !path.ends_with("main.rs");
    let named = files("listings", ".rs").into_iter().filter(is_program);
    let there: BTreeSet<_> =
        named.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(listed, there, "listings/main.rs names others than there are");
    for name in listed {
        let printed = run(&[&name]);
        // A program of another library prints the same as our program.
        match name.strip_prefix("in_") {
            Some(library) => assert_eq!(printed, run(&[&format!("from_{library}")]), "{name}"),
            None => recorded(&format!("listings/{name}.txt"), &printed),
        }
    }
    // A message is that of rustc for the program of this name in `tests/mistakes/ui`.
    for path in files("listings", ".said") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let said = text(&book().join("../../tests/mistakes/ui").join(format!("{name}.stderr")));
        let said = said.replace("$DIR/", "").replace(&format!("ui/{name}.rs"), "src/main.rs");
        recorded(&format!("listings/{name}.said"), &said);
    }
    for path in files("src", ".md") {
        let name = path.file_name().unwrap().to_str().unwrap();
        recorded(&format!("src/{name}"), &with_listings(&text(&path)));
    }
}

/// The page with the current text of each file that it shows. `<!-- ../listings/xor.rs -->` precedes the fence that
/// shows the file.
fn with_listings(page: &str) -> String {
    let mut parts = page.split(LISTING_MARK);
    let mut current = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n```").expect("a fence follows the name of a file");
        let (kind, rest) = rest.split_once('\n').expect("a fence has lines");
        let (_, after) = rest.split_once("```").expect("a fence ends");
        let shown = text(&book().join("src").join(name));
        assert!(!shown.contains("```"), "{name} has a fence");
        current +=
            &format!("{LISTING_MARK}{name} -->\n```{kind}\n{}\n```{after}", shown.trim_end_matches('\n'));
    }
    current
}

/// Compares `now` with a file of the book, or records it.
fn recorded(name: &str, now: &str) {
    let path = book().join(name);
    if env::var_os("MIND_BLESS").is_some() {
        fs::write(&path, now).expect("the book can be written");
    }
    assert_eq!(now, text(&path), "{name} is not current: MIND_BLESS=1 cargo test -p mind-book");
}

#[test]
fn the_example_on_variables_is_the_program_of_the_book() {
    let example = text(&book().join("../../examples/bare.rs"));
    let (program, _) = example.split_once("\n#[cfg(test)]").expect("tests come last");
    let (_, program) = program.split_once("\n\n").expect("a comment comes first");
    assert_eq!(program, text(&book().join("listings/variables.rs")));
}

#[test]
fn every_listing_is_shown() {
    let pages: String = files("src", ".md").iter().map(|path| text(path)).collect();
    let all = ["listings", "beside"].map(|folder| (folder, files(folder, "")));
    for (folder, path) in
        all.into_iter().flat_map(|(folder, paths)| paths.into_iter().map(move |path| (folder, path)))
    {
        let name = path.file_name().unwrap().to_str().unwrap();
        let shown = format!("{LISTING_MARK}../{folder}/{name} -->");
        assert!(name == "main.rs" || pages.contains(&shown), "no page has {shown}");
    }
}

#[test]
fn links_and_the_summary_are_whole() {
    let summary = text(&book().join("src/SUMMARY.md"));
    let mut wrong = Vec::new();
    for path in files("src", ".md").into_iter().chain([book().join("../../README.md")]) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !["SUMMARY.md", "README.md"].contains(&name) && !summary.contains(&format!("({name})")) {
            wrong.push(format!("SUMMARY.md does not name {name}"));
        }
        let page = text(&path);
        let links = prose(&page);
        let targets = between(&links, "](", ")").into_iter().chain(between(&page, LISTING_MARK, " -->"));
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let leads_to = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            if !leads_to.is_file() {
                wrong.push(format!("{name}: nothing is at {target}"));
            } else if !heading.is_empty() && !headings(&text(&leads_to)).contains(heading) {
                wrong.push(format!("{name}: no heading is {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The text of a page outside of fences and backticks.
fn prose(page: &str) -> String {
    let outside = page.split("```").step_by(2).collect::<String>();
    outside.split('`').step_by(2).collect()
}

/// The anchors of the headings of a page.
fn headings(page: &str) -> BTreeSet<String> {
    let outside: String = page.split("```").step_by(2).collect();
    let titles =
        outside.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let named = |title: &str| {
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    titles.map(named).collect()
}

#[test]
fn the_readme_shows_a_program_of_the_book_and_a_recorded_mistake() {
    let root = book().join("../..");
    let readme = text(&root.join("README.md"));
    let listing = |name| text(&book().join("listings").join(name));
    for (kind, shown) in [
        ("rust", listing("xor.rs")),
        ("text", listing("xor.txt")),
        ("rust,ignore", text(&root.join("tests/mistakes/ui/e3003_inner_dimensions.rs"))),
        ("text", listing("e3003_inner_dimensions.said")),
    ] {
        let block = format!("```{kind}\n{shown}```");
        assert!(readme.contains(&block), "README.md does not show\n{block}");
    }
}

/// Every program on a page is also a file that a test runs or compiles.
#[test]
fn programs_on_pages_are_files() {
    for path in files("src", ".md") {
        let page = text(&path);
        let parts: Vec<_> = page.split("```").collect();
        for pair in parts.chunks_exact(2) {
            let is_program = ["rust,ignore\n", "rust\n", "python\n", "console\n"];
            let is_program = is_program.iter().any(|kind| pair[1].starts_with(kind));
            assert!(!is_program || pair[0].ends_with(" -->\n"), "{}: {}", path.display(), pair[1]);
        }
    }
}

/// Fences of kind `mind` contain items, and fences of kind `expression` contain one expression per line.
#[test]
fn the_parser_accepts_the_examples_of_the_grammar() {
    let page = text(&book().join("src/grammar.md"));
    let read = |tokens: &str| {
        let (_, diags) = mind_core::surface::parse(tokens.parse().unwrap());
        assert!(diags.is_empty(), "{tokens}: {diags:?}");
    };
    let fences = |kind: &str| between(&page, &format!("```rust,ignore,{kind}\n"), "```");
    let (items, expressions) = (fences("mind"), fences("expression"));
    assert!(items.len() >= 5 && !expressions.is_empty());
    items.into_iter().for_each(read);
    expressions.iter().flat_map(|block| block.lines()).for_each(read);
}
