//! Every primitive and construct at every kind of type: `tests/ks/at_*.ks`, generated from the tables below.
//!
//! An equation is an expression that must be true. `(a)` and `(b)` are two values of the type. `(zero)` is the first
//! one with 0, `false` and `""` in place of its numbers, truth values and texts. `(together)` is the sum of `a` and
//! `b`, `(change)` a tangent, and `(moved)` the first value plus that tangent.

use std::{collections::BTreeSet, fs, path::Path};

use mind_knossos::{
    check, function_names,
    interp::{Options, Value, run},
    prelude_overloads,
};

/// A type with sample values.
struct Values {
    file: &'static str,
    ty: &'static str,
    a: &'static str,
    b: &'static str,
    zero: &'static str,
    /// The sum of `a` and `b`, if the type has sums.
    together: Option<&'static str>,
    tangent: &'static str,
    change: &'static str,
    moved: &'static str,
}

const TYPES: &[Values] = &[
    Values {
        file: "integer",
        ty: "Integer",
        a: "3",
        b: "-4",
        zero: "0",
        together: Some("-1"),
        tangent: "(Tuple)",
        change: "(tuple)",
        moved: "3",
    },
    Values {
        file: "float",
        ty: "Float",
        a: "1.5",
        b: "-2.25",
        zero: "0.0",
        together: Some("-0.75"),
        tangent: "Float",
        change: "0.5",
        moved: "2.0",
    },
    Values {
        file: "bool",
        ty: "Bool",
        a: "true",
        b: "false",
        zero: "false",
        together: None,
        tangent: "(Tuple)",
        change: "(tuple)",
        moved: "true",
    },
    Values {
        file: "string",
        ty: "String",
        a: "\"x\"",
        b: "\"y z\"",
        zero: "\"\"",
        together: None,
        tangent: "(Tuple)",
        change: "(tuple)",
        moved: "\"x\"",
    },
    Values {
        file: "tuple",
        ty: "(Tuple Float Integer)",
        a: "(tuple 1.5 2)",
        b: "(tuple 0.5 -3)",
        zero: "(tuple 0.0 0)",
        together: Some("(tuple 2.0 -1)"),
        tangent: "(Tuple Float (Tuple))",
        change: "(tuple 0.25 (tuple))",
        moved: "(tuple 1.75 2)",
    },
    Values {
        file: "tuple_nested",
        ty: "(Tuple (Tuple Float) (Tuple) (Tuple Float Float))",
        a: "(tuple (tuple 1.5) (tuple) (tuple 2.0 3.0))",
        b: "(tuple (tuple -1.0) (tuple) (tuple 0.5 0.25))",
        zero: "(tuple (tuple 0.0) (tuple) (tuple 0.0 0.0))",
        together: Some("(tuple (tuple 0.5) (tuple) (tuple 2.5 3.25))"),
        tangent: "(Tuple (Tuple Float) (Tuple) (Tuple Float Float))",
        change: "(tuple (tuple 0.5) (tuple) (tuple -1.0 0.0))",
        moved: "(tuple (tuple 2.0) (tuple) (tuple 1.0 3.0))",
    },
    Values {
        file: "vec_float",
        ty: "(Vec Float)",
        a: "(Vec_init 1.0 2.0)",
        b: "(Vec_init 3.0 -0.5)",
        zero: "(Vec_init 0.0 0.0)",
        together: Some("(Vec_init 4.0 1.5)"),
        tangent: "(Vec Float)",
        change: "(Vec_init 0.5 -1.0)",
        moved: "(Vec_init 1.5 1.0)",
    },
    Values {
        file: "vec_string",
        ty: "(Vec String)",
        a: "(Vec_init \"x\" \"y\")",
        b: "(Vec_init \"z\")",
        zero: "(Vec_init \"\" \"\")",
        together: None,
        tangent: "(Vec (Tuple))",
        change: "(Vec_init (tuple) (tuple))",
        moved: "(Vec_init \"x\" \"y\")",
    },
    Values {
        file: "vec_tuple",
        ty: "(Vec (Tuple Float Integer))",
        a: "(Vec_init (tuple 1.0 2) (tuple 3.0 4))",
        b: "(Vec_init (tuple 0.5 1) (tuple 0.25 -1))",
        zero: "(Vec_init (tuple 0.0 0) (tuple 0.0 0))",
        together: Some("(Vec_init (tuple 1.5 3) (tuple 3.25 3))"),
        tangent: "(Vec (Tuple Float (Tuple)))",
        change: "(Vec_init (tuple 1.0 (tuple)) (tuple -1.0 (tuple)))",
        moved: "(Vec_init (tuple 2.0 2) (tuple 2.0 4))",
    },
    Values {
        file: "ragged",
        ty: "(Vec (Vec Float))",
        a: "(Vec_init (Vec_init 1.0) (Vec_init 2.0 3.0))",
        b: "(Vec_init (Vec_init 4.0) (Vec_init -1.0 0.5))",
        zero: "(Vec_init (Vec_init 0.0) (Vec_init 0.0 0.0))",
        together: Some("(Vec_init (Vec_init 5.0) (Vec_init 1.0 3.5))"),
        tangent: "(Vec (Vec Float))",
        change: "(Vec_init (Vec_init 0.5) (Vec_init 0.0 1.0))",
        moved: "(Vec_init (Vec_init 1.5) (Vec_init 2.0 4.0))",
    },
    Values {
        file: "matrix",
        ty: "(Tensor 2 Float)",
        a: "(build (tuple 2 2) (lam (at : Tuple Integer Integer) (to_float (add (get$1$2 at) (get$2$2 at)))))",
        b: "(constVec (tuple 2 2) 1.0)",
        zero: "(constVec (tuple 2 2) 0.0)",
        together: Some(
            "(build (tuple 2 2) (lam (at : Tuple Integer Integer) (to_float (add 1 (add (get$1$2 at) (get$2$2 at))))))",
        ),
        tangent: "(Tensor 2 Float)",
        change: "(deltaVec (tuple 2 2) (tuple 0 0) 1.0)",
        moved: "(build (tuple 2 2) (lam (at : Tuple Integer Integer) (if (ne (get$1$2 at) (get$2$2 at)) 1.0 (if (eq (get$1$2 at) 0) 1.0 2.0))))",
    },
    Values {
        file: "matrix_tuple",
        ty: "(Tensor 2 (Tuple Bool String))",
        a: "(constVec (tuple 1 2) (tuple true \"x\"))",
        b: "(constVec (tuple 2 1) (tuple false \"y\"))",
        zero: "(constVec (tuple 1 2) (tuple false \"\"))",
        together: None,
        tangent: "(Tensor 2 (Tuple (Tuple) (Tuple)))",
        change: "(constVec (tuple 1 2) (tuple (tuple) (tuple)))",
        moved: "(constVec (tuple 1 2) (tuple true \"x\"))",
    },
    Values {
        file: "vec_matrix",
        ty: "(Vec (Tensor 2 Integer))",
        a: "(Vec_init (constVec (tuple 1 2) 3) (constVec (tuple 2 1) 4))",
        b: "(Vec_init (constVec (tuple 1 2) -3) (constVec (tuple 2 1) 1))",
        zero: "(Vec_init (constVec (tuple 1 2) 0) (constVec (tuple 2 1) 0))",
        together: Some("(Vec_init (constVec (tuple 1 2) 0) (constVec (tuple 2 1) 5))"),
        tangent: "(Vec (Tensor 2 (Tuple)))",
        change: "(Vec_init (constVec (tuple 1 2) (tuple)) (constVec (tuple 2 1) (tuple)))",
        moved: "(Vec_init (constVec (tuple 1 2) 3) (constVec (tuple 2 1) 4))",
    },
    Values {
        file: "tuple_tensors",
        ty: "(Tuple (Vec Float) (Tensor 3 Float))",
        a: "(tuple (Vec_init 1.0 2.0) (constVec (tuple 1 2 1) 3.0))",
        b: "(tuple (Vec_init 0.5 -2.0) (constVec (tuple 1 2 1) 0.5))",
        zero: "(tuple (Vec_init 0.0 0.0) (constVec (tuple 1 2 1) 0.0))",
        together: Some("(tuple (Vec_init 1.5 0.0) (constVec (tuple 1 2 1) 3.5))"),
        tangent: "(Tuple (Vec Float) (Tensor 3 Float))",
        change: "(tuple (Vec_init 1.0 -1.0) (constVec (tuple 1 2 1) -0.5))",
        moved: "(tuple (Vec_init 2.0 1.0) (constVec (tuple 1 2 1) 2.5))",
    },
];

/// The types that an equation applies to.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    All,
    /// Types whose values can be added.
    Sums,
    /// Types that are their own tangents.
    Tangents,
    /// Types whose values may differ in size.
    Sized,
    /// All other types.
    Unsized,
}
use Of::{All, Sized, Sums, Tangents, Unsized};

/// The primitive that an equation tests, the types it applies to, and the equation. `T` stands for the type.
const EQUATIONS: &[(&str, Of, &str)] = &[
    ("build", All, "(eq (build 2 (lam (i : Integer) (if (eq i 0) (a) (b)))) (Vec_init (a) (b)))"),
    (
        "build",
        All,
        "(eq (index (tuple 1 0) (build (tuple 2 1) (lam (at : Tuple Integer Integer) (if (eq (get$1$2 at) 1) (b) (a))))) (b))",
    ),
    ("sumbuild", Sums, "(eq (sumbuild 2 (lam (i : Integer) (if (eq i 0) (a) (b)))) (together))"),
    (
        "sumbuild",
        Sums,
        "(eq (sumbuild (tuple 1 2) (lam (at : Tuple Integer Integer) (if (eq (get$2$2 at) 0) (a) (b)))) (together))",
    ),
    ("fold", All, "(eq (fold (lam (ax : (Tuple T T)) (get$2$2 ax)) (a) (Vec_init (a) (b))) (b))"),
    (
        "fold",
        All,
        "(eq (fold (lam (ax : (Tuple (Tuple T T) Integer)) (let (((p q) (get$1$2 ax))) (tuple q p))) (tuple (a) (b)) (Vec_init 1 2 3)) (tuple (b) (a)))",
    ),
    (
        "map",
        All,
        "(eq (map (lam (x : T) (tuple x 1)) (Vec_init (a) (b))) (Vec_init (tuple (a) 1) (tuple (b) 1)))",
    ),
    (
        "map",
        All,
        "(eq (map (lam (n : Integer) (if (eq n 7) (a) (b))) (constVec (tuple 1 2) 7)) (constVec (tuple 1 2) (a)))",
    ),
    (
        "map2",
        All,
        "(eq (map2 (lam (xn : (Tuple T Integer)) (if (eq (get$2$2 xn) 0) (a) (get$1$2 xn))) (Vec_init (b) (b)) (Vec_init 0 1)) (Vec_init (a) (b)))",
    ),
    ("diag", All, "(eq (diag 1 2 (lam (i : Integer) (a))) (Vec_init (Vec_init (a) (zero))))"),
    (
        "buildFromSparse",
        Tangents,
        "(eq (buildFromSparse (shape (Vec_init (a) (b))) 3 (lam (i : Integer) (if (eq i 1) (tuple 1 (b)) (tuple 0 (if (eq i 0) (a) (change)))))) (Vec_init (moved) (b)))",
    ),
    (
        "buildFromSparse",
        Unsized,
        "(eq (buildFromSparse (tuple 1 2) 3 (lam (i : Integer) (tuple (tuple 0 (div i 2)) (change)))) (buildFromSparse (constVec (tuple 1 2) (shape (change))) 3 (lam (i : Integer) (tuple (tuple 0 (div i 2)) (change)))))",
    ),
    (
        "buildFromSparseTupled",
        Tangents,
        "(eq (buildFromSparseTupled (tuple (shape (Vec_init (a))) (shape (constVec (tuple 1 1) 0.0))) 1 (lam (i : Integer) (tuple (tuple i (a)) (tuple (tuple i 0) 2.0)))) (tuple (Vec_init (a)) (constVec (tuple 1 1) 2.0)))",
    ),
    (
        "$check",
        Tangents,
        "(lt ($check (lam (s : T) (ts_dot s s)) (lam (sd : (Tuple T Float)) (ts_scale (mul 2.0 (get$2$2 sd)) (get$1$2 sd))) (a) (ts_scale 0.0078125 (a)) 1.0) 0.01)",
    ),
    ("index", All, "(eq (tuple (index 1 (Vec_init (a) (b))) (index 0 (Vec_init (a) (b)))) (tuple (b) (a)))"),
    ("index", All, "(eq (index (tuple 0 1 0) (constVec (tuple 1 2 1) (b))) (b))"),
    (
        "size",
        All,
        "(eq (tuple (size (Vec_init (a) (b))) (size (constVec (tuple 2 1 3) (a)))) (tuple 2 (tuple 2 1 3)))",
    ),
    ("size", All, "(eq (size (build 0 (lam (i : Integer) (a)))) 0)"),
    ("shape", Sized, "(eq (shape (Vec_init (a) (b))) (Vec_init (shape (a)) (shape (b))))"),
    ("shape", Unsized, "(eq (shape (Vec_init (a) (b))) 2)"),
    ("shape", Unsized, "(eq (shape (constVec (tuple 1 2 1) (a))) (tuple 1 2 1))"),
    ("sum", Sums, "(eq (sum (Vec_init (a) (b))) (together))"),
    (
        "sum",
        Sums,
        "(eq (sum (map (lam (n : Integer) (if (eq n 0) (a) (b))) (build (tuple 1 2) (lam (at : Tuple Integer Integer) (get$2$2 at))))) (together))",
    ),
    ("constVec", All, "(eq (constVec 2 (a)) (Vec_init (a) (a)))"),
    ("deltaVec", All, "(eq (deltaVec 2 1 (a)) (Vec_init (zero) (a)))"),
    (
        "deltaVec",
        All,
        "(eq (tuple (deltaVec 1 1 (a)) (deltaVec 1 -1 (a))) (tuple (Vec_init (zero)) (Vec_init (zero))))",
    ),
    ("deltaVec", All, "(eq (index (tuple 0 1) (deltaVec (tuple 1 2) (tuple 0 1) (a))) (a))"),
    (
        "delta",
        All,
        "(eq (tuple (delta 1 1 (a)) (delta 0 1 (a)) (delta (tuple 1 2) (tuple 1 2) (b))) (tuple (a) (zero) (b)))",
    ),
    ("Vec_init", All, "(eq (index 0 (Vec_init (a))) (a))"),
    (
        "unzip",
        All,
        "(eq (unzip (Vec_init (tuple (a) 1) (tuple (b) 2))) (tuple (Vec_init (a) (b)) (Vec_init 1 2)))",
    ),
    (
        "unzip",
        All,
        "(eq (unzip (constVec (tuple 1 1) (tuple (a) (b) (a)))) (tuple (constVec (tuple 1 1) (a)) (constVec (tuple 1 1) (b)) (constVec (tuple 1 1) (a))))",
    ),
    ("ts_add", All, "(eq (ts_add (a) (change)) (moved))"),
    ("ts_scale", Tangents, "(eq (ts_scale 2.0 (a)) (ts_add (a) (a)))"),
    ("ts_dot", Tangents, "(eq (ts_dot (a) (ts_neg (b))) (neg (ts_dot (b) (a))))"),
    ("ts_neg", Tangents, "(eq (ts_add (ts_neg (a)) (a)) (zero))"),
    ("eq", All, "(and (eq (a) (a)) (not (eq (a) (b))))"),
    ("ne", All, "(and (ne (a) (b)) (not (ne (b) (b))))"),
    ("print", All, "(eq (print (a) \" \" (b) \"\\n\") 4)"),
    ("$inline", All, "(eq ($inline (a)) (a))"),
    ("$copydown", All, "(eq ($copydown (a)) (a))"),
    ("$trace", All, "(eq ($trace (a)) (a))"),
    ("$dummy", All, "(let (x ($dummy T)) (eq (tuple x (a)) (tuple ($dummy T) (a))))"),
    ("assert", All, "(eq (assert (eq (a) (a)) (b)) (b))"),
    (
        "tuple",
        All,
        "(let (t (tuple 1 (a) (tuple (b)))) (eq (tuple (get$2$3 t) (get$1$1 (get$3$3 t))) (tuple (a) (b))))",
    ),
    ("if", All, "(eq (tuple (if (eq (a) (b)) (a) (b)) (if true (a) (b))) (tuple (b) (a)))"),
    (
        "let",
        All,
        "(let (x (a)) (let ((y x) (x (b)) ((p q) (tuple x y))) (eq (tuple x y p q) (tuple (b) (a) (b) (a)))))",
    ),
    ("lam", All, "(let (x (a)) (eq (build 1 (lam (i : Integer) x)) (Vec_init x)))"),
    ("lambda", All, "(eq (map (lambda (x : T) (b)) (Vec_init (a))) (Vec_init (b)))"),
    ("call", All, "(eq (second 1 (b)) (b))"),
    ("recursion", All, "(eq (swapped 3 (a) (b)) (tuple (b) (a)))"),
    ("[fwd f]", All, "(eq ([fwd second] (tuple 1 (a)) (tuple (tuple) (change))) (change))"),
    ("[rev f]", All, "(eq ([rev second] (tuple 1 (a)) (change)) (tuple (tuple) (change)))"),
    ("[sufrev f]", All, "(eq ([sufrev second] (tuple 1 (a)) (change)) (tuple (tuple) (change)))"),
    (
        "[suffwdpass f]",
        All,
        "(let ((x tape) ([suffwdpass second] 1 (a))) (eq (tuple x ([sufrevpass second] (change) tape)) (tuple (a) (tuple (tuple) (change)))))",
    ),
    ("[shape f]", All, "(eq ([shape second] 1 (a)) (shape (a)))"),
    ("[CL f]", All, "(eq ([CL second] 1 (a)) (a))"),
    (
        "[rev f]",
        All,
        "(eq ([rev swapped] (tuple 3 (a) (a)) (tuple (change) (change))) (tuple (tuple) (change) (change)))",
    ),
    (
        "[fwd [rev f]]",
        All,
        "(eq ([fwd [rev second]] (tuple (tuple 1 (a)) (change)) (tuple (tuple (tuple) (change)) (change))) (tuple (tuple) (change)))",
    ),
    (
        "[rev [rev f]]",
        All,
        "(eq (get$2$2 ([rev [rev second]] (tuple (tuple 1 (a)) (change)) (tuple (tuple) (change)))) (change))",
    ),
];

impl Values {
    /// The equations that apply to this type.
    fn equations(&self) -> Vec<(&'static str, String)> {
        let has = |of: &Of| match of {
            All => true,
            Sums => self.together.is_some(),
            Tangents => self.ty == self.tangent,
            Sized => self.ty.contains("Vec") || self.ty.contains("Tensor"),
            Unsized => !self.ty.contains("Vec") && !self.ty.contains("Tensor"),
        };
        let of_type = EQUATIONS.iter().filter(|(_, of, _)| has(of));
        of_type.map(|(name, _, equation)| (*name, in_type(equation, self.ty))).collect()
    }

    fn program(&self) -> String {
        let Self { ty, tangent, .. } = self;
        let mut text = format!("; Every primitive and construct at {ty}: equations that hold.\n");
        let together = self.together.map(|together| ("together", together, ty));
        let named = [
            ("a", self.a, ty),
            ("b", self.b, ty),
            ("zero", self.zero, ty),
            ("change", self.change, tangent),
            ("moved", self.moved, ty),
        ];
        for (name, value, ty) in named.into_iter().chain(together) {
            text += &format!("(def {name} {ty} () {value})\n");
        }
        text += &format!(
            "(def second {ty} ((n : Integer) (t : {ty})) t)\n\
             (def swapped (Tuple {ty} {ty}) ((n : Integer) (x : {ty}) (y : {ty}))\n  \
             (if (eq n 0) (tuple x y) (swapped (sub n 1) y x)))\n"
        );
        // Several small functions compile faster in rustc than one large one.
        let equations = self.equations();
        let groups: Vec<_> = equations.chunks(6).collect();
        for (group, equations) in groups.iter().enumerate() {
            text += &format!("(def group{group} (Vec Bool) ()\n  (Vec_init");
            for (name, equation) in *equations {
                text += &format!("\n    ; {name}\n    {equation}");
            }
            text += "))\n";
        }
        let calls: String = (0..groups.len()).map(|group| format!(" (group{group})")).collect();
        text + &format!("(def main (Tuple{}) () (tuple{calls}))\n", " (Vec Bool)".repeat(groups.len()))
    }
}

/// An equation with its `T` replaced by a type.
fn in_type(equation: &str, ty: &str) -> String {
    let word = |word: &str| match word.trim_end_matches(')') {
        "T" => word.replacen('T', ty, 1),
        _ => word.to_owned(),
    };
    equation.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_primitive_holds_its_equations_at_every_type() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks");
    for values in TYPES {
        let text = values.program();
        let program = check(&text).unwrap_or_else(|diags| panic!("{}: {:?}", values.ty, diags.as_slice()));
        let outcome = run(&program, program.overloads("main")[0], &[], &Options::default());
        let Ok(Value::Tuple(groups)) = outcome.map(|outcome| outcome.value) else {
            panic!("the equations of {} fail", values.ty)
        };
        let found = groups.iter().flat_map(|group| match group {
            Value::Tensor(group) => &group.elements[..],
            _ => &[],
        });
        let equations = values.equations();
        assert_eq!(found.clone().count(), equations.len(), "{}", values.ty);
        for ((_, equation), found) in equations.iter().zip(found) {
            assert_eq!(*found, Value::Bool(true), "{}: {equation}", values.ty);
        }
        // The file belongs to the corpus: its output is recorded, and the emitted Rust is compared with the record.
        let path = root.join(format!("at_{}.ks", values.file));
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        if recorded.split(";=== ").next() != Some(&text) {
            assert!(
                std::env::var_os("MIND_BLESS").is_some(),
                "{} is not current: bless it, twice",
                path.display()
            );
            fs::write(&path, text).expect("the corpus can be written");
        }
    }
}

/// A primitive without an equation would not be tested at most types.
#[test]
fn every_primitive_has_an_equation() {
    let of_prelude: BTreeSet<_> = prelude_overloads().map(|(name, ..)| name).collect();
    let tried: BTreeSet<_> = EQUATIONS.iter().map(|(name, ..)| *name).collect();
    let missing: Vec<_> =
        function_names().filter(|name| !of_prelude.contains(name) && !tried.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
