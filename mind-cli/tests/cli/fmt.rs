//! Tests of `mind fmt`.

use crate::support::{Folder, LAYER};

/// A program with gaps in its ids, an unused value, a product that is `matmul` in canonical form, and comments.
const UNTIDY: &str = "\
# A layer.
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
N5 input S3 T2
# Not needed.
N6 exp N1 T0
N10 dot N1 N2 T3
# The bias.
N12 add N10 N5 T3
N20 relu N12 T3
# The result.
O N20
# The end.
";

const TIDY: &str = "\
mic@1
# A layer.
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
# Not needed.
N4 matmul N1 N2 T3
# The bias.
N5 add N3 N4 T3
N6 relu N5 T3
# The result.
O N6
# The end.
";

#[test]
fn files_are_rewritten_where_they_are_with_their_comments() {
    let folder = Folder::new().with("a.mic", UNTIDY).with("b.mic", LAYER);
    assert_eq!(folder.mind("fmt a.mic b.mic").fine(), "");
    assert_eq!((folder.read("a.mic"), folder.read("b.mic")), (TIDY.into(), LAYER.into()));
    folder.mind("fmt a.mic").fine();
    assert_eq!(folder.read("a.mic"), TIDY);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new();
    assert_eq!(folder.mind_with("fmt -", UNTIDY).fine(), TIDY);
    let folder = folder.with("a.mic", UNTIDY);
    assert_eq!(folder.mind("fmt --stdout a.mic").fine(), TIDY);
    assert_eq!(folder.read("a.mic"), UNTIDY);
}

#[test]
fn checking_writes_nothing_and_shows_what_would_change() {
    let folder = Folder::new().with("a.mic", UNTIDY.replace("# A layer.\n", "")).with("b.mic", LAYER);
    folder.mind("fmt --check b.mic").fine();
    let answer = folder.mind("fmt --check a.mic b.mic");
    assert_eq!((answer.code, &*answer.err), (1, ""));
    assert_eq!(
        answer.out,
        "\
a.mic is not in canonical form:
-12: N5 input S3 T2
+12: N3 input S3 T2
-14: N6 exp N1 T0
-15: N10 dot N1 N2 T3
+14: N4 matmul N1 N2 T3
-17: N12 add N10 N5 T3
-18: N20 relu N12 T3
+16: N5 add N3 N4 T3
+17: N6 relu N5 T3
-20: O N20
+19: O N6
"
    );
    assert_eq!(folder.read("a.mic"), UNTIDY.replace("# A layer.\n", ""));
    let said = folder.mind("fmt --check --stdout a.mic").misuse();
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn core_ir_and_json_are_formatted_in_their_own_form() {
    let folder = Folder::new();
    let text = "%3 = Input () {name=\"x\"} : f32[3]\r\n\r\n%7 = Mul (%3, %3) : f32[3]\r\noutputs: %7\r\n";
    let folder = folder.with("a.ir", text);
    folder.mind("fmt a.ir").fine();
    let tidy = "%0 = Input () {name=\"x\"} : f32[3]\n%1 = Mul (%0, %0) : f32[3]\noutputs: %1\n";
    assert_eq!(folder.read("a.ir"), tidy);
    let json = folder.mind("convert a.ir --to json").fine();
    let folder = folder.with("a.json", json.replace('\n', ""));
    folder.mind("fmt a.json").fine();
    assert_eq!(folder.read("a.json"), json);
}

#[test]
fn what_cannot_be_formatted_stays_as_it_is() {
    let wrong = UNTIDY.replace("relu", "rely");
    let folder = Folder::new().with("a.mic", &wrong).with("b.mic", UNTIDY);
    let answer = folder.mind("fmt a.mic b.mic");
    assert!(answer.mistakes().starts_with("mic:19: error[E2002]"));
    assert_eq!((folder.read("a.mic"), folder.read("b.mic")), (wrong, TIDY.into()));
}

#[test]
fn the_language_is_formatted_with_its_comments() {
    let untidy = "// A layer.\nfn f(x:f32[3])->f32[3]{relu( x )/* all */}\n\n\n\n";
    let tidy = "// A layer.\nfn f(x: f32[3]) -> f32[3] {\n    relu(x) /* all */\n}\n";
    let folder = Folder::new().with("a.mind", untidy).with("b.mind", tidy);
    let answer = folder.mind("fmt --check a.mind b.mind");
    assert_eq!(answer.code, 1);
    assert!(answer.out.starts_with("a.mind is not formatted:\n-2: fn f(x:f32[3])"), "{}", answer.out);
    assert!(!answer.out.contains("b.mind"), "{}", answer.out);
    assert_eq!(folder.read("a.mind"), untidy);
    assert_eq!(folder.mind("fmt --stdout a.mind").fine(), tidy);
    assert_eq!(folder.mind_with("fmt -", untidy).fine(), tidy);
    assert_eq!(folder.mind("fmt a.mind b.mind").fine(), "");
    assert_eq!((folder.read("a.mind"), folder.read("b.mind")), (tidy.into(), tidy.into()));
    folder.mind("fmt --check a.mind").fine();
}

#[test]
fn a_program_whose_syntax_is_wrong_is_left_alone_and_told_as_by_check() {
    let texts =
        ["fn f(x: f32[2]) -> f32[2] { relu(x }", "fn f(x: f32[2]) -> f32[2] { x × x }", "relu(x @ w)"];
    for text in texts {
        let folder = Folder::new().with("a.mind", text);
        let said = folder.mind("fmt a.mind").mistakes();
        // `check` reports further mistakes after these, in the parts that could be read.
        let (mistakes, _) = said.rsplit_once("\n\n").unwrap();
        assert!(folder.mind("check a.mind").mistakes().starts_with(mistakes), "{said}");
        assert_eq!(folder.read("a.mind"), text);
    }
    // An undefined name is not a syntax error.
    let folder = Folder::new().with("a.mind", "fn f( ) -> f32 { undefined }");
    folder.mind("fmt a.mind").fine();
    assert_eq!(folder.read("a.mind"), "fn f() -> f32 {\n    undefined\n}\n");
}
