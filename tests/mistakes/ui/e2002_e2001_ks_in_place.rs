mind::ks!(
    r#"
(def f Float (x : Float)
  (add x (sine x)))
(def g Float (n : Integer) (mul n 2))
"#
);

fn main() {}
