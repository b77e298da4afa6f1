mod layers {
    mind::mind! {
        pub fn total(x: float[..]) {
            sum(x)
        } pullback(_, dy) {
            dy
        }
    }
}

fn main() {
    let x = mind::Tensor::from([1.0_f32, 2.0, 3.0]);
    let y = mind::mind!(layers::total(x));
    println!("{y}");
}
