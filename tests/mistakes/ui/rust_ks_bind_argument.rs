mind::ks!(
    "(edef f Float (Float)) (def g Float (x : Float) (f x))",
    bind = [f = crate::single]
);

fn single(x: f32) -> f64 {
    x.into()
}

fn main() {}
