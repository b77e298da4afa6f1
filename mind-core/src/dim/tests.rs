//! Tests of the algebra, on small cases and against arithmetic.

use super::*;
use crate::random::Random;

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
    assert_eq!(product.exact_div(&a), Ok(Some(b.clone())));
    assert_eq!(product.exact_div(&b), Ok(Some(a)));
    assert_eq!(product.exact_div(&m), Ok(None));
    assert_eq!(n.exact_div(&2.into()), Ok(None));
    assert_eq!(Dim::literal(12).exact_div(&4.into()), Ok(Some(3.into())));
    assert_eq!(Dim::literal(12).exact_div(&0.into()), Ok(None));
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
    assert_eq!(Dim::literal(i64::MAX).add_literal(1), Err(Overflow::Range));
    assert_eq!(sym("N").mul(&i64::MAX.into()).unwrap().mul(&2.into()), Err(Overflow::Range));
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

/// A sum of up to four terms over `A`, `B` and a quotient, of degree up to three.
fn random(random: &mut Random) -> Dim {
    let atoms = [sym("A"), sym("B"), sym("A").add(&sym("B")).unwrap().floor_div(3).unwrap()];
    (0..=random.below(4)).fold(Dim::ZERO, |sum, _| {
        let term = Dim::literal(random.below(9) as i64 - 4);
        let term = (0..random.below(4)).fold(term, |term, _| term.mul(&atoms[random.below(3)]).unwrap());
        sum.add(&term).unwrap()
    })
}

#[test]
fn operations_are_those_of_the_values() {
    let mut choices = Random::new(7);
    for _ in 0..300 {
        let (p, q) = (random(&mut choices), random(&mut choices));
        let bindings: Bindings =
            ["A", "B"].map(|name| (name.into(), Dim::literal(1 + choices.below(9) as i64))).into();
        let value = |dim: &Dim| dim.evaluate(&bindings).unwrap();
        assert_eq!(value(&p.add(&q).unwrap()), value(&p) + value(&q), "{p} and {q}");
        assert_eq!(value(&p.sub(&q).unwrap()), value(&p) - value(&q), "{p} and {q}");
        assert_eq!(value(&p.mul(&q).unwrap()), value(&p) * value(&q), "{p} and {q}");
        assert_eq!(value(&p.floor_div(4).unwrap()), value(&p).div_euclid(4), "{p}");
        assert_eq!(
            Dim::sum_of(&[p.clone(), q.clone(), p.clone()]),
            p.add(&q).unwrap().add(&p),
            "{p} and {q}"
        );
        assert!(!p.at_most(&q) || value(&p) <= value(&q), "{p} and {q}");
        assert!(!p.is_below_one() || value(&p) < 1, "{p}");
        let sums: Bindings = [("A".into(), q.clone())].into();
        let bound = value(&q);
        let moved: Bindings = [("A".into(), bound.into()), ("B".into(), bindings["B"].clone())].into();
        let replaced = p.substitute(&sums).unwrap().evaluate(&bindings);
        assert_eq!(replaced, p.evaluate(&moved), "{p} with {q} for A");
        if q != Dim::ZERO {
            assert_eq!(p.mul(&q).unwrap().exact_div(&q), Ok(Some(p.clone())), "{p} times {q}");
        }
    }
}

#[test]
fn quotients_of_many_terms_are_found() {
    let sum = (0..1000).try_fold(Dim::ZERO, |sum, i| sum.add(&sym(&format!("A{i}")))).unwrap();
    assert_eq!(sum.terms().len(), 1000);
    let product = sum.mul(&sym("N")).unwrap();
    assert_eq!(product.exact_div(&sym("N")), Ok(Some(sum.clone())));
    assert_eq!(product.exact_div(&sum), Ok(Some(sym("N"))));
}

/// `A0 + 1`, `A1 + 1`, …
fn binomials(count: usize) -> Vec<Dim> {
    (0..count).map(|i| sym(&format!("A{i}")).add_literal(1).unwrap()).collect()
}

#[track_caller]
fn refused(found: DimResult, message: &str) {
    assert_eq!(found.unwrap_err().to_string(), message);
}

#[test]
fn products_are_refused_by_their_size_before_they_are_computed() {
    assert_eq!(Dim::product(&binomials(12)).unwrap().terms().len(), 4096);
    refused(
        Dim::product(&binomials(13)),
        "a dimension of 8192 terms, multiplied out, exceeds the limit of 4096",
    );
    // None of these can be computed: the first has more terms than a 64-bit integer can count.
    refused(
        Dim::product(&binomials(100)),
        "a dimension of 18446744073709551615 terms, multiplied out, exceeds the limit of 4096",
    );
    let halves = Dim::product(&binomials(12)).unwrap();
    refused(halves.mul(&halves), "a dimension of 16777216 terms, multiplied out, exceeds the limit of 16384");
    let power = (0..64).try_fold(sym("N"), |power, _| power.mul(&power));
    refused(power, "a dimension of 2048 factors in a term exceeds the limit of 1024");
    let nested = (0..2000).try_fold(sym("N"), |n, _| n.add(&sym("M"))?.floor_div(2));
    refused(nested, "a dimension of 257 divisions within each other exceeds the limit of 256");
    let doubled = (0..200).try_fold(sym("N"), |n, _| n.mul(&n)?.add(&n)?.floor_div(3));
    refused(
        doubled,
        "a dimension of 147620 symbols and integers, multiplied out, exceeds the limit of 131072",
    );
}

#[test]
fn replacements_are_refused_by_the_products_that_they_take() {
    let bindings: Bindings =
        (0..12).map(|i| (format!("A{i}").into(), sym("M").add(&sym(&format!("B{i}"))).unwrap())).collect();
    let found = Dim::product(&binomials(12)).unwrap().substitute(&bindings).unwrap_err().to_string();
    assert!(found.ends_with("products of terms, multiplied out, exceeds the limit of 65536"), "{found}");
}

#[test]
fn parts_of_a_product_within_the_limits_are_within_them() {
    // (X - 1) * (X^9 + … + 1) is X^10 - 1, with only two terms. Terms that cancel still count.
    let powers = (0..9).try_fold(Dim::ONE, |sum, _| sum.mul(&sym("X"))?.add_literal(1)).unwrap();
    let less = sym("X").add_literal(-1).unwrap();
    let whole = Dim::product(&[less.clone(), powers.clone()]).unwrap();
    assert_eq!(whole.terms().len(), 2);
    let many = (0..1500).try_fold(Dim::ZERO, |sum, i| sum.add(&sym(&format!("A{i}")))).unwrap();
    assert!(whole.mul(&many).is_ok());
    refused(
        Dim::product(&[less.clone(), powers.clone(), many.clone()]),
        "a dimension of 30000 terms, multiplied out, exceeds the limit of 4096",
    );
    // Coefficients are limited too: the product of these exceeds 64 bits.
    let wide = |n: i64| less.mul(&n.into()).unwrap();
    refused(
        Dim::product(&[wide(1 << 31), wide(1 << 31), Dim::literal(2)]),
        "a dimension exceeds the range of 64-bit integers",
    );
}

#[test]
fn bounds_of_large_sums_are_found_or_left_open() {
    let product = Dim::product(&binomials(12)).unwrap();
    assert!(product.is_positive());
    assert!(!product.is_below_one());
    assert!(!product.mul(&(-1).into()).unwrap().is_positive());
    assert!(binomials(2)[0].at_most(&product));
    // A bound that would need half a million products is not computed.
    let less = binomials(12)[0].sub(&Dim::literal(1)).unwrap();
    assert!(product.sub(&less).unwrap().is_positive());
    let open = product.sub(&Dim::product(&binomials(11)).unwrap().mul(&3.into()).unwrap()).unwrap();
    assert_eq!(open.lower_bound(), None);
}
