//! Tests of help, completions and wrong use.

use crate::support::Folder;

const SUBCOMMANDS: [&str; 13] = [
    "new",
    "check",
    "fmt",
    "convert",
    "grad",
    "run",
    "stats",
    "graph",
    "bench",
    "ks",
    "xla",
    "explain",
    "completions",
];

#[test]
fn help_names_every_subcommand_with_examples() {
    let folder = Folder::new();
    let help = folder.mind("--help").fine();
    for name in SUBCOMMANDS {
        assert!(help.contains(&format!("\n  {name} ")), "{help}");
        let own = folder.mind(&format!("{name} --help")).fine();
        assert!(own.contains("Examples:\n  "), "{own}");
        assert!(own.contains(&format!("Usage: mind {name}")), "{own}");
    }
    assert!(help.contains("Exit codes:\n  0  success\n  1  "), "{help}");
    assert!(help.contains(".ir: Core IR text"), "{help}");
    assert!(folder.mind("-h").fine().contains("Examples:\n"));
}

#[test]
fn help_fits_a_terminal_of_a_hundred_columns() {
    for name in SUBCOMMANDS {
        let help = Folder::new().mind(&format!("{name} --help")).fine();
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 112, "{name}: {widest}: {help}");
    }
}

#[test]
fn wrong_use_is_exit_code_2() {
    let folder = Folder::new();
    for arguments in
        ["", "chekc x.mic", "check", "check --profile v2 x.mic", "completions tcsh", "graph x.mic"]
    {
        let answer = folder.mind(arguments);
        assert_eq!((answer.code, &*answer.out), (2, ""), "{arguments}");
        assert!(
            answer.err.contains("Usage: mind") || answer.err.contains("[possible values"),
            "{}",
            answer.err
        );
    }
    assert!(folder.mind("chekc x.mic").misuse().contains("a similar subcommand exists: 'check'"));
}

#[test]
fn the_version_is_told() {
    assert_eq!(Folder::new().mind("--version").fine(), concat!("mind ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn shells_complete_the_command_line() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Folder::new().mind(&format!("completions {shell}")).fine();
        assert!(script.contains("mind") && script.contains("renderer"), "{shell}");
    }
}
