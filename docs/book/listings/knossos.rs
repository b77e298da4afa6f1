use mind::{Tensor, mind};

mind::ks! {r#"
    ; A decayed sum of the positive elements of `xs`: `share` multiplies the sum before each is added.
    (def left Float ((share : Float) (xs : Vec Float))
      (fold (lam (ax : Tuple Float Float)
              (let ((a x) ax)
                (if (gt x 0.0) (add (mul share a) x) a)))
            0.0
            xs))
"#, grad = [rev left]}

mind! {
    extern fn left(share: f64, xs: f64[4]) -> f64;

    /// A function of `mind!` that calls one of Knossos, with a gradient through both.
    #[grad(share, w)]
    fn loss(share: f64, w: f64[4], x: f64[4]) -> f64 {
        let miss = left(share, w * x) - 3.0;
        miss * miss
    }
}

fn main() {
    let (w, x) = (Tensor::full(1.0), Tensor::from([1.0, -2.0, 3.0, 0.5]));
    println!("{}", left(0.5, &x.as_dyn().to_owned()));
    let (value, (by_share, by_w)) = loss_grad(0.5, &w, &x);
    println!("{value} {by_share} {by_w}");
}
