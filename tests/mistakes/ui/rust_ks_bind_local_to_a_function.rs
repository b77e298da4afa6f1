fn main() {
    fn twice(x: f64) -> f64 {
        2.0 * x
    }

    mind::ks!("(edef twice Float Float) (def f Float (x : Float) (twice x))", bind = [twice = twice]);
}
