use mind::mind;

mind! {
    fn root(a: f64) -> f64 { while x = a if x * x > a + 1e-9 { 0.5 * (x + a / x) } }

    fn slope(a: f64) -> f64 { grad(root, wrt = a)(a) }
}

fn main() {}
