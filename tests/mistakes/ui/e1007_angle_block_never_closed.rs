use mind::Tensor;

mind::angle! {
    fn first(x: &Tensor![f32; 2]) -> Tensor![f32; 2] {
        let f = mind::mind!< |x: f32[2]| relu(x);
        f(x)
    }

    fn second(x: &Tensor![f32; 2]) -> Tensor![f32; 2] {
        let f = mind::mind!< |x: f32[2]| relu(x) >;
        f(x)
    }
}

fn main() {
    let x = Tensor::zeros();
    first(&second(&x));
}
