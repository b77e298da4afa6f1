use mind::mind;

mind! {
    #[grad(w)]
    pub fn loss<N>(x: f32[N, 784], w: f32[785, 10]) -> f32 {
        sum(x @ w)
    }

    pub fn twice<N>(x: f32[N, 784], w: f32[785, 10]) -> f32 {
        loss(x, w) + loss(x, w)
    }

    pub fn step<N>(x: f32[N, 784], w: &mut f32[785, 10]) -> f32 {
        let (l, dw) = value_and_grad(loss, wrt = w)(x, w);
        w -= dw;
        l
    }
}

fn main() {
    let x: mind::Tensor![f32; ?, 784] = mind::Tensor::zeros_with((8, mind::Const));
    let mut w: mind::Tensor![f32; 785, 10] = mind::Tensor::zeros();
    let mut value: f32 = loss(&x, &w) + twice(&x, &w) + step(&x, &mut w);
    let (l, dw): (f32, mind::Tensor![f32; 785, 10]) = loss_grad(&x, &w);
    let tried: Result<f32, mind::Error> = try_loss(&x, &w);
    let mut workspace = mind::Workspace::with_bytes(loss::peak_bytes(8));
    let into: Result<(), mind::Error> = loss_into(&x, &w, &mut value, &mut workspace);
    let _ = (l, dw, tried, into, loss::CORE_IR);
}
