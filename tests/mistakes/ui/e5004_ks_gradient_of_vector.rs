mind::ks!("(edef f (Vec Float) (Vec Float))", bind = [f = crate::f, grad f = crate::f]);

fn f(v: &mind::TensorRef<f64, (usize,)>) -> mind::Tensor<f64, (usize,)> {
    v.to_owned()
}

fn main() {}
