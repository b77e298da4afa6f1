use mind::mind;

mind! {
    fn shapes(c: bool, x: f32[3]) -> f32[3] { if c { x } else { x[..2] } }

    fn types(c: bool, n: i64, x: f64) -> i64 { if c { n } else { x } }

    fn literal(c: bool, n: i64) -> i64 { if c { 0.5 } else { n } }
}

fn main() {}
