//! Knossos programs in files and within Rust code, as users write them.

use mind::{Nested, Tensor};

mod gmm {
    mind::include_ks!("../ks/gmm_term.ks", export = [objective], grad = [objective]);
}

mod single {
    #![deny(warnings)]
    mind::include_ks!("../ks/gmm_term.ks", precision = f32);
}

mind::ks!(
    r#"
(def first Float (v : Vec Float) (index 0 v))
(def quotient Integer ((a : Integer) (b : Integer)) (div a b))
(def twice Float (x : Float) (mul 2.0 x))
(def twice Integer (x : Integer) (mul 2 x))
(def greet Integer (name : String) (print name))
(def pairs (Vec (Tuple Float Integer)) (n : Integer)
  (build n (lam (i : Integer) (tuple (to_float i) (mul i i)))))
(def total Float (p : Vec (Tuple Float Integer))
  (sumbuild (size p) (lam (i : Integer) (get$1$2 (index i p)))))
(def triangle (Vec (Vec Float)) (n : Integer)
  (build n (lam (i : Integer) (build i (lam (j : Integer) (to_float j))))))
(def larger (Tensor 2 Bool) ((t : Tensor 2 Float) (limit : Float))
  (map (lam (x : Float) (gt x limit)) t))
(def count Float (n : Integer) (if (eq n 0) 0.0 (add 1.0 (count (sub n 1)))))
(def weigh (Tuple Float (Vec Float)) ((n : Integer) (x : Float) (v : Vec Float))
  (tuple (mul x (to_float n)) (mul x v)))
"#,
    grad = [weigh]
);

/// Programs that define functions of the prelude themselves.
mod own {
    mind::include_ks!("../ks/own_dot.ks", grad = [rev square, fwd square]);
}

mod own_in_place {
    mind::ks!(
        r#"
        (def before Float (v : Vec Float) (dot v v))
        (def dot Float ((a : Vec Float) (b : Vec Float)) (add 1000.0 (mul (index 0 a) (index 0 b))))
        (def [rev exp] Float ((x : Float) (dr : Float)) (mul 5.0 dr))
        (def bent Float (x : Float) (exp x))
    "#,
        grad = [rev bent]
    );
}

/// The example of `docs/knossos.md`.
mod page {
    mind::include_ks!("../ks/gmm_term.ks", grad = [objective]);

    mind::ks!(
        r#"
        (def norm Float (v : Vec Float)
          (sqrt (sum (map (lam (x : Float) (mul x x)) v))))
    "#,
        precision = f32
    );
}

#[test]
fn the_rust_of_the_page_is_rust() {
    let page = without_spaces(include_str!("../../docs/knossos.md"));
    // On the page, the folder of the program is beside the file.
    let own = without_spaces(include_str!("include_ks.rs")).replace("../ks/", "ks/");
    let block = page.split("```rust").nth(1).and_then(|rest| rest.split("```").next());
    assert!(own.contains(block.expect("the page shows Rust")));
    let (v, x) = (Tensor::from_slice((2,), &[3.0_f32, 4.0]).expect("two elements"), vector(&[0.0]));
    let (dx, ..) = page::rev_objective(&x, &x, &x, &x, 1.0);
    assert_eq!((page::norm(&v), page::try_norm(&v).ok(), dx.as_slice()), (5.0, Some(5.0), &[0.0][..]));
}

/// Removes white space, which formatting may change.
fn without_spaces(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

fn vector(elements: &[f64]) -> Tensor![f64; ?] {
    Tensor::from_slice((elements.len(),), elements).expect("a vector of its elements")
}

#[test]
fn functions_of_a_file_and_their_gradients() {
    let [x, alphas, means, q] = [&[0.0, 1.0, 2.5][..], &[0.1, -0.2], &[0.5, 2.0], &[0.0, 0.3]].map(vector);
    let value = gmm::objective(&x, &alphas, &means, &q);
    assert!((value + 1.579_232_083_221_388_4).abs() < 1e-12, "{value}");
    let (dx, d_alphas, d_means, dq) = gmm::rev_objective(&x, &alphas, &means, &q, 1.0);
    let expected = [0.590_459_059_580_634, 0.226_858_987_528_478_98, -1.069_243_906_027_405];
    assert!(dx.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{dx}");
    let along = gmm::fwd_objective(&x, &alphas, &means, &q, &dx, &d_alphas, &d_means, &dq);
    let squares: f64 = [&dx, &d_alphas, &d_means, &dq].iter().flat_map(|d| d.iter()).map(|d| d * d).sum();
    assert!((along - squares).abs() < 1e-12, "{along} is not {squares}");
}

#[test]
fn what_a_program_defines_wins_over_the_prelude() {
    let (v, w) = (vector(&[1.0, 2.0]), vector(&[3.0, 0.0]));
    assert_eq!((own::square(&v), own::fwd_square(&v, &w)), (5.0, 60.0));
    assert_eq!(own::rev_square(&v, 1.0).as_slice(), [200.0, 400.0]);
    let (d_first, d_second) = own::rev_dot(&v, &w, 1.0);
    assert_eq!((d_first.as_slice(), d_second.as_slice()), (&[300.0, 0.0][..], &[100.0, 200.0][..]));
    assert_eq!((own_in_place::before(&v), own_in_place::dot(&v, &w)), (1001.0, 1003.0));
    assert_eq!((own_in_place::bent(0.0), own_in_place::rev_bent(0.0, 1.0)), (1.0, 5.0));
}

#[test]
fn a_precision_is_that_of_every_float() {
    let v = Tensor::from_vec((2,), vec![0.0_f32, 0.0]).expect("two elements");
    let value: f32 = single::logsumexp(&v);
    assert_eq!(value, 2.0_f32.ln());
}

#[test]
fn failures_have_their_places_in_the_rust_file() {
    let error = try_first(&vector(&[])).expect_err("there is no element");
    assert_eq!(error.code(), "E6001");
    assert_eq!(
        error.to_string(),
        "E6001: tests/macros/include_ks.rs:16:34: index 0 is out of range of a tensor of size 0, in `first`"
    );
    let error = try_quotient(1, 0).expect_err("0 divides nothing").to_string();
    assert_eq!(error, "E6010: tests/macros/include_ks.rs:17:53: cannot divide 1 by zero, in `quotient`");
    assert_eq!(quotient(-7, 2), -3);
}

#[test]
#[should_panic(expected = "E6001: tests/macros/include_ks.rs:16:34")]
fn the_plain_form_panics_with_the_message() {
    first(&vector(&[]));
}

#[test]
fn a_call_without_end_is_an_error() {
    assert_eq!(count(9_000), 9_000.0);
    let error = try_count(-1).expect_err("it never ends").to_string();
    assert!(error.contains("calls nest deeper than the limit of 10000"), "{error}");
}

#[test]
fn overloads_have_names_of_their_own() {
    assert_eq!((twice(1.5), twice_integer(4)), (3.0, 8));
}

#[test]
fn values_of_every_structure_go_in_and_out() {
    assert_eq!(greet("World"), 1);
    let (x, squares) = pairs(3);
    assert_eq!((x.as_slice(), squares.as_slice()), (&[0.0, 1.0, 2.0][..], &[0, 1, 4][..]));
    assert_eq!(total((&x, &squares)), 3.0);
    let short = Tensor::from_vec((1,), vec![1_i64]).expect("one element");
    let error = try_total((&x, &short)).expect_err("3 is not 1").to_string();
    assert!(error.contains("the members of a tensor of tuples differ in size"), "{error}");
    let rows = triangle(3);
    assert_eq!(rows.iter().map(|row| row.as_slice()).collect::<Vec<_>>(), [&[][..], &[0.0], &[0.0, 1.0]]);
    let t = Tensor::from_vec((1, 2), vec![1.0, 3.0]).expect("two elements");
    assert_eq!(larger(&t, 2.0), Nested::new([1, 2], vec![false, true]).expect("two elements"));
    assert!(
        try_pairs(-1).expect_err("a size is not negative").to_string().contains("the size -1 is negative")
    );
}

#[test]
fn what_has_no_tangent_stands_as_a_unit() {
    let v = vector(&[1.0, 2.0]);
    let ((), dx, dv) = rev_weigh(3, 2.0, &v, (1.0, &v));
    assert_eq!((dx, dv.as_slice()), (3.0 + 5.0, &[2.0, 4.0][..]));
}
