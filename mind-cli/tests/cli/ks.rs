//! Tests of `mind ks`.

use crate::support::Folder;

const NORM: &str = "\
; The Euclidean norm.
(def norm Float (v : Vec Float)
  (sqrt (sum (map (lam (x : Float) (mul x x)) v))))
(def scale (Vec Float) ((a : Float) (v : Vec Float)) (mul a v))
(def main Integer () (print \"norm \" (norm (Vec_init 3.0 4.0)) \"\\n\"))
";

fn folder() -> Folder {
    Folder::new().with("norm.ks", NORM)
}

#[test]
fn programs_are_checked() {
    let said = folder().mind("ks check norm.ks").fine();
    assert_eq!(said, "norm.ks: ok, 3 functions, 0 rules\n");
    assert_eq!(folder().mind("ks check --quiet norm.ks").fine(), "");
    assert_eq!(folder().mind_with("ks check -", NORM).fine(), "<stdin>: ok, 3 functions, 0 rules\n");
}

#[test]
fn the_ir_is_printed_where_it_is_asked_for() {
    let text = "(def twice Float (x : Float) (add x x))\n(gdef fwd twice)\n";
    let said = Folder::new().with("twice.ks", text).mind("ks check -q --print-ir twice.ks").fine();
    let listing = "\
twice : Float -> Float
  (x : Float)
  %1 : Float = add x x
  -> %1

[fwd twice] : Float Float -> Float
  (%0 : Float) (%1 : Float)
  %2 : (Tuple Float Float) = call [dual twice] %0 %1
  %3 : Float = %2.1
  -> %3

[dual twice] : Float Float -> (Tuple Float Float)
  (%0 : Float) (%1 : Float)
  %2 : Float = add %0 %0
  %3 : Float = add %1 %1
  %4 : (Tuple Float Float) = tuple %2 %3
  -> %4
";
    assert_eq!(said, listing);
}

const RULES: &str = "\
(rule \"mul1\" (x : Float) (mul x 1.0) x)
(rule \"sum\" ((v : Vec Float) (w : Vec Float)) (sum (sub v w)) (sub (sum v) (sum w)))
(rule \"beyond\" (v : Vec Float) (index (size v) v) 1.0)
";

#[test]
fn rules_are_tried_where_it_is_asked_for() {
    let folder = Folder::new().with("rules.ks", RULES);
    let said = folder.mind("ks check --rules rules.ks").fine();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[0], "rules.ks: ok, 6 functions, 3 rules");
    assert_eq!(lines[1], "rule \"mul1\": holds on 200 samples");
    assert!(lines[2].starts_with("rule \"sum\": holds on 1"), "{said}");
    assert_eq!(lines[3], "rule \"beyond\": untested, its left side fails on every sample");
    assert_eq!(folder.mind("ks check --rules --quiet rules.ks").fine(), "");
}

#[test]
fn a_rule_that_does_not_hold_is_a_mistake_with_a_counterexample() {
    let wrong = "(rule \"abs\" (x : Float) (abs x) x)\n\
                 (rule \"first\" (v : Vec Float) (sum v) (index 0 v))\n\
                 (rule \"add0\" (n : Integer) (add n 0) n)\n";
    let folder = Folder::new().with("wrong.ks", wrong);
    assert_eq!(folder.mind("ks check wrong.ks").fine(), "wrong.ks: ok, 6 functions, 3 rules\n");
    let answer = folder.mind("ks check --rules wrong.ks");
    assert_eq!(answer.code, 1);
    assert!(answer.out.contains("rule \"add0\": holds on 200 samples\n"), "{}", answer.out);
    let said = &answer.err;
    assert!(
        said.starts_with("ks:1:1: error[E6010]: rule \"abs\" does not hold\n --> wrong.ks:1:1\n"),
        "{said}"
    );
    assert!(said.contains("= where x is -2.0\n") && said.contains("= the left side gives 2.0\n"), "{said}");
    assert!(said.contains("= the right side gives -2.0\n"), "{said}");
    assert!(said.contains("= where v is []\n") && said.contains("= the left side gives 0.0\n"), "{said}");
    let fault = "= the right side fails: index 0 is out of range of a tensor of size 0\n";
    assert!(said.contains(fault) && said.contains("2 mistakes"), "{said}");
}

#[test]
fn mistakes_are_shown_in_the_file() {
    let wrong = NORM.replace("(mul x x)", "(mul x 2 3)").replace("(norm (Vec", "(nrom (Vec");
    let said = Folder::new().with("norm.ks", wrong).mind("ks check norm.ks").mistakes();
    assert!(
        said.starts_with("ks:3:37: error[E2006]: no overload of `mul` takes (Tuple Float Integer Integer)\n"),
        "{said}"
    );
    assert!(
        said.contains("\nks:5:38: error[E2002]: undefined function `nrom`\n --> norm.ks:5:38\n"),
        "{said}"
    );
    assert!(said.contains("= help: write `norm`\n") && said.contains("2 mistakes"), "{said}");
}

#[test]
fn main_or_a_function_is_run() {
    assert_eq!(folder().mind("ks run norm.ks").fine(), "norm 5\n3\n");
    let call = |arguments: &[&str]| {
        let mut command = folder_command();
        command.1.args(["ks", "run", "norm.ks"]).args(arguments);
        crate::support::answer(&mut command.1)
    };
    assert_eq!(call(&["norm", "(Vec_init 1.0 1.0)"]).fine(), "1.4142135623730951\n");
    assert_eq!(call(&["norm", "(Vec_init 1.0 1.0)", "--precision", "f32"]).fine(), "1.4142135\n");
    assert_eq!(call(&["scale", "-2.0", "(Vec_init 1.0 2.0)"]).fine(), "[-2.0 -4.0]\n");
    let said = call(&["norm", "2.0"]).mistakes();
    assert!(
        said.starts_with("ks:1:2: error[E2006]: no overload of `norm` takes Float\n --> <arguments>:1:2\n"),
        "{said}"
    );
}

/// `print` writes a Bool as a number, like ksc. The result of a run is in the syntax of programs.
#[test]
fn a_bool_is_printed_as_a_digit_or_a_word() {
    let text = "(def main Bool () (let (n (print true \" \" (tuple false 1) (Vec_init true false) \"\\n\")) (gt n 0)))";
    let folder = Folder::new().with("b.ks", text);
    assert_eq!(folder.mind("ks run b.ks").fine(), "1 (tuple 0 1)[1 0]\ntrue\n");
    assert_eq!(folder.mind("ks run b.ks --print-bools digits").fine(), "1 (tuple 0 1)[1 0]\ntrue\n");
    let words = "true (tuple false 1)[true false]\ntrue\n";
    assert_eq!(folder.mind("ks run b.ks --print-bools words").fine(), words);
    let help = folder.mind("ks run --help").fine();
    assert!(help.contains("--print-bools <FORM>") && help.contains("1 and 0, like ksc"), "{help}");
}

/// `print` writes six digits, like ksc. The result of a run is in the syntax of programs.
#[test]
fn a_float_is_printed_in_six_digits_or_all() {
    let text = "(def main Float () (let (n (print (div 1.0 3.0) \" \" (tuple 10.0 1e-5) (Vec_init 1e6) \"\\n\")) (div 1.0 3.0)))";
    let folder = Folder::new().with("f.ks", text);
    let six = "0.333333 (tuple 10 1e-05)[1e+06]\n0.3333333333333333\n";
    assert_eq!(folder.mind("ks run f.ks").fine(), six);
    assert_eq!(folder.mind("ks run f.ks --print-floats six").fine(), six);
    let exact = "0.3333333333333333 (tuple 10.0 1e-5)[1000000.0]\n0.3333333333333333\n";
    assert_eq!(folder.mind("ks run f.ks --print-floats exact").fine(), exact);
    let short = "0.33333334 (tuple 10.0 1e-5)[1000000.0]\n0.33333334\n";
    assert_eq!(folder.mind("ks run f.ks --print-floats exact --precision f32").fine(), short);
    let help = folder.mind("ks run --help").fine();
    assert!(
        help.contains("--print-floats <FORM>") && help.contains("`10` and `0.333333`, like ksc"),
        "{help}"
    );
}

fn folder_command() -> (Folder, assert_cmd::Command) {
    let folder = folder();
    let command = folder.command("");
    (folder, command)
}

#[test]
fn failures_of_runs_are_shown_where_they_happen() {
    let text = "(def f Float (v : Vec Float)\n  (index 2 v))\n(def main Float () (f (Vec_init 1.0)))\n";
    let said = Folder::new().with("f.ks", text).mind("ks run f.ks").mistakes();
    assert!(
        said.starts_with(
            "ks:2:3: error[E6001]: index 2 is out of range of a tensor of size 1\n --> f.ks:2:3\n"
        ),
        "{said}"
    );
    assert!(said.contains("= in `f`\n"), "{said}");
}

#[test]
fn other_commands_say_who_reads_knossos() {
    let said = folder().mind("check norm.ks").misuse();
    assert_eq!(
        said,
        "error: norm.ks is a Knossos program\n  help: `mind ks` checks, runs and differentiates it\n"
    );
}

#[test]
fn gradients_are_told_with_the_value() {
    let grad = |arguments: &[&str]| {
        let folder = folder();
        let mut command = folder.command("ks grad norm.ks");
        crate::support::answer(command.args(arguments))
    };
    assert_eq!(grad(&["norm", "(Vec_init 0.0 2.0)"]).fine(), "value     2.0\ngradient  [0.0 1.0]\n");
    let said = grad(&["scale", "2.0", "(Vec_init 3.0 4.0)", "--cotangent", "(Vec_init 1.0 0.0)"]).fine();
    assert_eq!(said, "value     [6.0 8.0]\ngradient  (tuple 3.0 [2.0 0.0])\n");
    let said = grad(&["scale", "2.0", "(Vec_init 3.0 4.0)"]).mistakes();
    assert!(said.contains("error[E2006]: no overload of `[rev scale]` takes"), "{said}");
}

/// Input that newcomers try first.
#[test]
fn what_is_no_program_is_told_so() {
    let folder = Folder::new().with("f.ks", "(def f Float (x : Float) x)\n").with("empty.ks", "");
    let folder = folder.with("junk.ks", b"\xff\xfe(d").with("open.ks", "(def f Float\n");
    let misuse = |arguments: &str| folder.mind(arguments).misuse();
    assert_eq!(misuse("ks check none.ks"), "error: cannot read none.ks: no such file or directory\n");
    assert_eq!(
        misuse("ks check ."),
        "error: cannot read .: it is a directory\n  help: name a file in it, as ./gmm.ks\n"
    );
    assert_eq!(
        misuse("ks run f.ks"),
        "error: f.ks has no `main` to run\n  help: give a function and its arguments, as in `mind ks run FILE f …`; \
            its functions are f\n"
    );
    assert_eq!(
        misuse("ks run empty.ks"),
        "error: empty.ks has no `main` to run\n  help: define one: (def main Float () 1.0)\n"
    );
    let said = folder.mind("ks check junk.ks").mistakes();
    assert!(said.contains("error[E1001]: invalid UTF-8 at byte 0: 0xff 0xfe 0x28 0x64"), "{said}");
    let said = folder.mind("ks check open.ks").mistakes();
    assert!(said.starts_with("ks:1:1: error[E1007]: expected `)`: the list is not closed"), "{said}");
    let said = folder.mind("ks grad f.ks f").mistakes();
    assert!(said.contains("no overload of `f` takes (Tuple)") && said.contains("| (f)\n"), "{said}");
}
