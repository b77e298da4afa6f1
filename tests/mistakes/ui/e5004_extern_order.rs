mind::ks!(
    "(def cell Float ((a : Float) (b : Float) (c : Float) (d : Float) (e : Float) (f : Float) (n : Integer)) (mul a b))",
    grad = [rev cell, rev rev cell]
);

mind::mind! {
    extern fn cell(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, n: i64) -> f64;
    pub fn first(x: f64, n: i64) -> f64 { cell(x, x, x, x, x, x, n) }
    pub fn second(x: f64, n: i64) -> f64 { grad(first, wrt = x)(x, n) }
    #[grad(x)]
    pub fn third(x: f64, n: i64) -> f64 { 2.0 * second(x, n) }
}

fn main() {}
