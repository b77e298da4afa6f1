//! What the README shows of the command is what it prints, and the picture there the one it draws.

use std::{env, fs, path::Path};

use crate::support::Folder;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The README's section on the command.
fn section() -> String {
    let readme =
        fs::read_to_string(root().join("README.md")).expect("the README is there").replace("\r\n", "\n");
    let (_, rest) = readme.split_once("\n## The `mind` command\n").expect("the README has the section");
    rest.split("\n## ").next().expect("a split has a part").to_owned()
}

/// What stands in fences of this kind.
fn blocks<'a>(section: &'a str, kind: &str) -> Vec<&'a str> {
    let begin = format!("```{kind}\n");
    section.split(&*begin).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_readme_shows_what_the_command_prints() {
    let section = section();
    let program = blocks(&section, "rust,ignore").remove(0);
    let folder = Folder::new().with("loss.mind", program);
    let mut shown = 0;
    for block in blocks(&section, "console") {
        for call in block.split("$ mind ").skip(1) {
            let (arguments, expected) = call.split_once('\n').unwrap();
            if arguments.contains("wrong.mic") {
                let wrong = folder.read("loss.mic").replace("matmul N1 N2", "matmul N2 N1");
                fs::write(folder.path("wrong.mic"), wrong).unwrap();
            }
            let answer = folder.mind(arguments);
            assert_eq!(answer.out + &answer.err, expected, "mind {arguments}");
            shown += 1;
        }
    }
    assert!(shown >= 4);
}

/// `MIND_BLESS=1 cargo test -p mind-cli` draws it anew.
#[test]
fn the_picture_is_the_one_that_the_command_draws() {
    let section = section();
    let folder = Folder::new().with("loss.mind", blocks(&section, "rust,ignore").remove(0));
    folder.mind("graph loss.mind --wrt w,b -o loss.svg --renderer own").fine();
    let path = root().join("docs/images/gradient.svg");
    if env::var_os("MIND_BLESS").is_some() {
        fs::copy(folder.path("loss.svg"), &path).expect("the picture can be written");
    }
    let picture = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(picture == folder.read("loss.svg"), "docs/images/gradient.svg is not current: bless it as above");
}
