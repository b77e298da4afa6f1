//! Tests of `mind explain`.

use mind_core::diag::Code;

use crate::support::Folder;

#[test]
fn a_code_is_explained_with_an_example_and_its_fix() {
    let said = Folder::new().mind("explain E3003").fine();
    assert_eq!(
        said,
        "\
E3003: dimensions that must agree differ

Two dimensions that must be equal have different extents. For `x @ w` these are the last dimension
of `x` and the first of `w`, or the second to last of `w` if `w` has more than two.

Wrong:
    fn layer<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] {
        x @ w
    }

Right:
    fn layer<N>(x: f32[N, 784], w: f32[784, 256]) -> f32[N, 256] {
        x @ w
    }

To fix it:
The message says where each extent comes from; check both places. Often a transpose (`w.T`) is
missing.

Arises: in a `mind!` block; in a file in one of the text forms; from the compiler as a library; when a program runs.
"
    );
}

#[test]
fn every_code_is_explained_and_listed() {
    let folder = Folder::new();
    let list = folder.mind("explain").fine();
    for code in Code::ALL {
        let info = code.info();
        assert!(list.contains(&format!("{}  {}\n", info.name, info.meaning)), "{code}");
        let said = folder.mind(&format!("explain {code}")).fine();
        assert!(said.starts_with(&format!("{code}: {}\n", info.meaning)), "{said}");
        assert!(said.contains("To fix it:\n") && said.contains("\nArises: "), "{said}");
    }
}

#[test]
fn the_code_of_rustc_that_broken_rules_of_expressions_come_with_is_explained() {
    let folder = Folder::new();
    let said = folder.mind("explain E0080").fine();
    assert!(said.starts_with("E0080: rustc's code for a constant that could not be evaluated\n"), "{said}");
    assert!(
        said.contains("After `evaluation panicked:` come the error code and message of `mind!`"),
        "{said}"
    );
    assert!(said.contains("error[E0080]: evaluation panicked: [E3003]"), "{said}");
    assert_eq!(folder.mind("explain error[E0080]:").fine(), said);
}

#[test]
fn codes_may_be_written_as_messages_show_them() {
    let folder = Folder::new();
    let said = folder.mind("explain E3003").fine();
    for written in ["e3003", "3003", "[E3003]", "error[E3003]:"] {
        assert_eq!(folder.mind(&format!("explain {written}")).fine(), said, "{written}");
    }
}

#[test]
fn an_unknown_code_leads_to_the_nearest() {
    let folder = Folder::new();
    let said = folder.mind("explain E3033").misuse();
    assert_eq!(
        said,
        "error: there is no error code `E3033`\n  help: the nearest is E3003: dimensions that must agree differ\n"
    );
    for nonsense in ["shapes", "E", "../E3003"] {
        let said = folder.mind(&format!("explain {nonsense}")).misuse();
        assert!(said.starts_with(&format!("error: there is no error code `{nonsense}`\n  help: ")), "{said}");
    }
}
