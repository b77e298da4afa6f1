//! Tests that the book shows the output of the command, and the pictures that the command draws.
//!
//! `docs/book/listings/*.console` contain calls with their output. They run in a folder with the programs and the
//! limits of a machine beside them.
//! `MIND_BLESS=1 cargo test -p mind-cli --test cli book` records listings and pictures again.

use std::{env, fs, path::PathBuf};

use crate::support::Folder;

fn book(part: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book")).join(part)
}

/// The listings whose names have this ending, in order, with their texts.
fn listings(ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(book("listings")).expect("the book is there");
    let names = entries.map(|entry| entry.expect("the folder can be read").file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    let read = |name: &String| fs::read_to_string(book("listings").join(name)).expect("it is text");
    names.into_iter().map(|name| (name.clone(), read(&name).replace("\r\n", "\n"))).collect()
}

#[test]
fn the_book_shows_what_the_command_prints_and_draws() {
    let is_blessed = env::var_os("MIND_BLESS").is_some();
    let consoles = listings(".console");
    assert!(consoles.len() >= 4);
    for (name, shown) in consoles {
        let programs = [".mind", ".mic", "machine.txt"].into_iter().flat_map(listings);
        let folder = programs.fold(Folder::new(), |folder, (name, text)| folder.with(&name, text));
        let mut printed = String::new();
        for call in shown.lines().filter_map(|line| line.strip_prefix("$ mind ")) {
            let answer = folder.mind(call);
            printed += &format!("$ mind {call}\n{}{}", answer.out, answer.err);
            if let Some(picture) = call.split(' ').find(|word| word.ends_with(".svg")) {
                let (path, drawn) = (book("src/images").join(picture), folder.read(picture));
                if is_blessed {
                    fs::write(&path, &drawn).expect("the picture can be written");
                }
                let kept = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
                assert!(kept == drawn, "{picture} is not current: bless it as above");
            }
        }
        if is_blessed {
            fs::write(book("listings").join(&name), &printed).expect("the listing can be written");
        } else {
            assert_eq!(printed, shown, "{name}");
        }
    }
}
