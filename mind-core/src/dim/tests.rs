//! The algebra on small cases and against arithmetic.

use super::*;

fn sym(name: &str) -> Dim {
    Dim::symbol(name)
}

#[test]
fn equal_polynomials_have_equal_normal_forms() {
    let (n, m) = (sym("N"), sym("M"));
    let square = n.add(&m).unwrap().mul(&n.add(&m).unwrap()).unwrap();
    let nm = n.mul(&m).unwrap();
    let expanded = n.mul(&n).unwrap().add(&nm).unwrap().add(&nm).unwrap().add(&m.mul(&m).unwrap()).unwrap();
    assert_eq!(square, expanded);
    assert_ne!(n, m);
    assert_eq!(n.sub(&n).unwrap(), Dim::ZERO);
}

#[test]
fn floors_keep_only_what_does_not_divide() {
    let n = sym("N");
    let four_n_plus_5 = n.mul(&4.into()).unwrap().add_literal(5).unwrap();
    assert_eq!(four_n_plus_5.floor_div(4).unwrap().to_string(), "N + 1");
    let h = sym("H").add_literal(-3).unwrap().floor_div(2).unwrap().add_literal(1).unwrap();
    assert_eq!(h, sym("H").add_literal(-1).unwrap().floor_div(2).unwrap());
    assert_eq!(h.to_string(), "(H + 1) / 2 - 1");
    let nested = sym("H").floor_div(2).unwrap().floor_div(3).unwrap();
    assert_eq!(nested, sym("H").floor_div(6).unwrap());
    assert_eq!(n.mul(&2.into()).unwrap().floor_div(4).unwrap(), n.floor_div(2).unwrap());
}

#[test]
fn floors_evaluate_as_the_mathematical_floor() {
    for divisor in 1..6 {
        for a in -7..8 {
            for b in -9..10 {
                let dim = sym("N").mul(&a.into()).unwrap().add_literal(b).unwrap();
                let quotient = dim.floor_div(divisor).unwrap();
                for n in 1..9 {
                    let bindings = [(Symbol::from("N"), Dim::literal(n))].into();
                    assert_eq!(quotient.evaluate(&bindings), Some((a * n + b).div_euclid(divisor)));
                }
            }
        }
    }
}

#[test]
fn exact_division_undoes_multiplication_and_only_that() {
    let (n, m) = (sym("N"), sym("M"));
    let a = n.add_literal(1).unwrap();
    let b = m.add(&n).unwrap();
    let product = a.mul(&b).unwrap();
    assert_eq!(product.exact_div(&a), Some(b.clone()));
    assert_eq!(product.exact_div(&b), Some(a));
    assert_eq!(product.exact_div(&m), None);
    assert_eq!(n.exact_div(&2.into()), None);
    assert_eq!(Dim::literal(12).exact_div(&4.into()), Some(3.into()));
    assert_eq!(Dim::literal(12).exact_div(&0.into()), None);
}

#[test]
fn bounds_hold_for_symbols_of_at_least_one() {
    assert_eq!(sym("N").lower_bound(), Some(1));
    assert!(sym("N").is_positive());
    assert!(!sym("N").add_literal(-1).unwrap().is_positive());
    assert!(sym("N").at_most(&sym("N").mul(&sym("M")).unwrap()));
    assert!(!sym("N").at_most(&sym("M")));
    assert!(sym("N").add_literal(1).unwrap().floor_div(2).unwrap().is_positive());
}

#[test]
fn overflow_is_an_error() {
    assert_eq!(Dim::literal(i64::MAX).add_literal(1), Err(Overflow));
    assert_eq!(sym("N").mul(&i64::MAX.into()).unwrap().mul(&2.into()), Err(Overflow));
}

#[test]
fn display_reads_like_the_surface_language() {
    let dim = sym("N").mul(&2.into()).unwrap().add_literal(1).unwrap();
    assert_eq!(dim.to_string(), "2 * N + 1");
    assert_eq!(format!("{dim:#}"), "2*N+1");
    assert_eq!(sym("H").sub(&sym("K")).unwrap().to_string(), "H - K");
    assert_eq!(Dim::literal(-3).to_string(), "-3");
    let twice = sym("H").floor_div(2).unwrap().mul(&2.into()).unwrap();
    assert_eq!(twice.to_string(), "2 * (H / 2)");
}
