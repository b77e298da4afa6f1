mind::ks!(
    "(edef softplus Float (Float)) (def f Float (x : Float) (softplus x))",
    bind = [sofplus = f64::exp]
);

fn main() {}
