//! Bad input gives a clear error and never overflows the stack or the memory.

use mind_core::diag::Code;
use mind_knossos::{
    check,
    emit::{Export, emit},
    interp::{Failure, Options, Outcome, run},
    ir::Definition,
    print, verify,
};

fn codes(text: &str) -> Vec<Code> {
    match check(text) {
        Ok(_) => Vec::new(),
        Err(diags) => diags.into_iter().map(|diag| diag.code).collect(),
    }
}

fn main_of(text: &str, options: &Options) -> Result<Outcome, Failure> {
    let program = check(text).unwrap_or_else(|diags| panic!("{:?}", diags.as_slice()));
    run(&program, program.overloads("main")[0], &[], options)
}

#[test]
fn ten_thousand_nested_parentheses_are_one_error() {
    let deep = |open: &str| {
        let text = format!("(def f Float (x : Float) {}x{})", open.repeat(10_000), ")".repeat(10_000));
        codes(&text)
    };
    assert_eq!(deep("("), [Code::E1008]);
    assert_eq!(deep("(neg "), [Code::E1008]);
    assert_eq!(
        codes(&format!("(def f {}Float{} () 1.0)", "(Vec ".repeat(10_000), ")".repeat(10_000))),
        [Code::E1008]
    );
}

#[test]
fn functions_that_each_call_the_one_before_twice_are_inlined_as_far_as_they_stay_small() {
    let mut text = String::from("(def f0 Float (x : Float) (add x (mul x x)))\n");
    for i in 1..60 {
        text.push_str(&format!("(def f{i} Float (x : Float) (f{0} (f{0} x)))\n", i - 1));
    }
    // A function that calls many of the largest inlinable functions.
    let calls = format!("{}x{}", "(f6 ".repeat(200), ")".repeat(200));
    text.push_str(&format!("(def many Float (x : Float) {calls})\n"));
    let mut program = check(&text).unwrap_or_else(|diags| panic!("{:?}", diags.as_slice()));
    program.optimise();
    let counts: Vec<usize> = program
        .functions
        .iter()
        .filter_map(|function| match &function.definition {
            Definition::Defined(body) => Some(body.blocks.iter().map(|block| block.instructions.len()).sum()),
            _ => None,
        })
        .collect();
    let largest = counts.iter().max().copied();
    assert!(largest.is_some_and(|largest| (2000..=3000).contains(&largest)), "{counts:?}");
}

#[test]
fn as_deep_as_the_limit_is_fine() {
    let text = format!("(def main Float () {}1.0{})", "(neg ".repeat(254), ")".repeat(254));
    assert_eq!(main_of(&text, &Options::default()).unwrap().value.to_string(), "1.0");
    let text = format!("(def main Float () {}1.0{})", "(let (x 2.0) ".repeat(254), ")".repeat(254));
    main_of(&text, &Options::default()).unwrap();
}

/// Forms nested to the limit, with their derivatives, do not overflow the stack of the code that walks them.
#[test]
fn every_form_nests_to_the_limit() {
    let forms = [
        ("(sin ", ")", 1),
        ("(f ", " v)", 1),
        ("([rev sin] ", " x)", 1),
        ("(assert (gt x 0.0) ", ")", 1),
        ("(if (gt x 0.0) ", " x)", 1),
        ("(let (x (sin x)) ", ")", 1),
        ("(let (x ", ") (mul x x))", 2),
        ("(let ((x y) (tuple ", " x)) (mul x y))", 3),
        ("(get$1$1 (tuple ", "))", 2),
        ("(index 0 (Vec_init ", "))", 2),
        ("(sumbuild 1 (lam (i : Integer) (mul x ", ")))", 3),
        ("(index 0 (build 1 (lam (i : Integer) ", ")))", 3),
        ("(fold (lam (ax : (Tuple Float Float)) ", ") x v)", 2),
        ("(index 0 (buildFromSparse (shape v) 1 (lam (i : Integer) (tuple i ", "))))", 4),
    ];
    for (open, close, lists) in crate::sample::sample("forms", forms) {
        let count = 250 / lists;
        let body = format!("{}x{}", open.repeat(count), close.repeat(count));
        let text = format!(
            "(def f Float ((x : Float) (v : Vec Float)) x)
            (def nested Float ((x : Float) (v : Vec Float)) {body})
            (gdef shape nested)
            (def main (Tuple Float (Tuple Float (Vec Float)) Float) () (let (s (tuple 0.5 (Vec_init 0.25)))
              (tuple (nested s) ([rev nested] s 1.0) ([fwd nested] s s))))"
        );
        let program = check(&text).unwrap_or_else(|diags| panic!("{open}: {:?}", diags.as_slice()));
        assert_eq!(verify(&program), Ok(()), "{open}");
        assert!(!print(&program).is_empty());
        let rust = emit(&program, &[Export::new(program.overloads("main")[0], "main")], &Default::default());
        assert!(!rust.is_empty());
        main_of(&text, &Options::default()).unwrap_or_else(|failure| panic!("{open}: {failure}"));
    }
}

#[test]
fn a_long_text_is_no_deep_one() {
    let lets: String = (0..20_000).map(|i| format!("(x{i} 1.0) ")).collect();
    main_of(&format!("(def main Float () (let ({lets}) x19999))"), &Options::default()).unwrap();
}

#[test]
fn recursion_without_end_is_an_error_and_below_the_limit_it_is_fine() {
    let text = "(def down Integer (n : Integer) (if (eq n 0) 0 (add 1 (down (sub n 1)))))";
    let at =
        |depth: usize| main_of(&format!("{text}(def main Integer () (down {depth}))"), &Options::default());
    assert_eq!(at(9_998).unwrap().value.to_string(), "9998");
    let failure = at(20_000).unwrap_err();
    assert_eq!((failure.code, failure.message.contains("the limit of 10000")), (Code::E6010, true));
}

#[test]
fn sizes_are_limited() {
    let of = |size: &str| {
        let text = format!("(def main Float () (sumbuild {size} (lam (i : (Tuple Integer Integer)) 1.0)))");
        main_of(&text, &Options::default()).unwrap_err().code
    };
    assert_eq!(of("(tuple 4294967296 4294967296)"), Code::E6004);
    assert_eq!(of("(tuple 1000000000000 1)"), Code::E6004);
    assert_eq!(of("(tuple 1 -1)"), Code::E6010);
}

#[test]
fn any_bytes_are_read_without_a_panic() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "def ",
        "f ",
        "\"",
        "#|",
        "|#",
        ";",
        "\n",
        "1",
        "-",
        ".",
        "é",
        "(def f Float (x : Float) ",
    ];
    let mut state = 7_u64;
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..20 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        drop(check(&text));
    }
}

/// Types, derivatives and lambdas that double with each line are refused before they exhaust memory.
#[test]
fn what_doubles_is_limited() {
    let doubled: String = (0..60).map(|_| "(a (tuple a a)) ").collect();
    let text = format!("(def f Float (x : Float) (let ((b x) (a x) {doubled}) x))");
    assert!(codes(&text).contains(&Code::E1008), "{:?}", codes(&text));
    let of = |count: usize| {
        let (open, close) = ("[rev ".repeat(count), "]".repeat(count));
        codes(&format!("(def f Float (x : Float) (mul x x)) (gdef rev {open}f{close})"))
    };
    assert_eq!((of(1), of(100)), (vec![], vec![Code::E1008]));
    let (open, close) = (
        "($check (lam (x : Float) ".repeat(60),
        ") (lam (xd : (Tuple Float Float)) (get$2$2 xd)) 1.0 1.0 1.0)".repeat(60),
    );
    assert_eq!(codes(&format!("(def main Float () {open}x{close})")), []);
}

#[test]
fn a_run_ends_where_its_steps_do() {
    let options = Options { most_steps: 1_000, ..Options::default() };
    let message = |text: &str| main_of(text, &options).unwrap_err().message;
    let limit = "the program exceeded the limit of 1000 instructions";
    assert_eq!(message("(def main Integer () (sumbuild 1000000 (lam (i : Integer) i)))"), limit);
    // Its elements are shared: a thousand million of them in little memory.
    let shared = "(constVec 1000 (constVec 1000 (constVec 1000 1.0)))";
    assert_eq!(message(&format!("(def main Bool () (let (v {shared}) (eq v v)))")), limit);
    assert_eq!(message(&format!("(def main (Vec (Vec (Vec Float))) () {shared})")), limit);
}

#[test]
fn a_run_ends_where_its_memory_does() {
    let at = |most_bytes: u64, text: &str| main_of(text, &Options { most_bytes, ..Options::default() });
    let grow = "(def grow (Vec Float) ((n : Integer) (v : Vec Float)) (if (lt n 1) v (grow (sub n 1) \
                (build (mul 2 (size v)) (lam (i : Integer) (index (div i 2) v))))))";
    let failure =
        at(1 << 20, &format!("{grow}(def main Integer () (size (grow 40 (Vec_init 1.0 2.0))))")).unwrap_err();
    assert_eq!(failure.code, Code::E6004);
    assert!(failure.message.starts_with("a tensor of 16384 elements: "), "{}", failure.message);
    assert!(failure.message.ends_with(" bytes are needed in all, more than the limit of 1048576"));
    // The same holds for many small tensors, and for a result that is small only while it is shared.
    let rows =
        "(def main Integer () (size (build 1000 (lam (i : Integer) (build 1000 (lam (j : Integer) 1.0))))))";
    assert_eq!(at(1 << 20, rows).unwrap_err().code, Code::E6004);
    let shared = "(def main (Vec (Vec (Vec Float))) () (constVec 1000 (constVec 1000 (constVec 1000 1.0))))";
    assert_eq!(at(1 << 22, shared).unwrap_err().code, Code::E6004);
    // Printing and adding need the full size.
    let printed = "(def main Integer () (print (constVec 1000 (constVec 1000 (constVec 1000 1.0)))))";
    assert_eq!(at(1 << 22, printed).unwrap_err().code, Code::E6004);
    // Calls use memory too.
    let deep = "(def down Integer (n : Integer) (if (lt n 1) 0 (add 1 (down (sub n 1)))))(def main Integer () (down 9000))";
    assert_eq!(at(100_000, deep).unwrap_err().code, Code::E6004);
    assert!(at(100_000_000, deep).is_ok());
}

#[test]
fn memory_that_nothing_needs_any_more_is_no_ones() {
    // A hundred vectors of a thousand elements, one after the other.
    let text = "(def main Float () (sumbuild 100 (lam (k : Integer) \
                (sum (build 1000 (lam (i : Integer) (to_float (add i k))))))))";
    let options = Options { most_bytes: 1 << 17, ..Options::default() };
    assert_eq!(main_of(text, &options).unwrap().value.to_string(), "54900000.0");
}
