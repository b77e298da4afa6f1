mind::ks!(
    r#"
(edef softplus Float (Float))
(def f Float (x : Float) (mul 2.0 (softplus x)))
"#
);

fn main() {}
