use mind::mind;

mind! {
    const N: dim = 3;

    fn f<N>(x: f32[N]) -> f32 {
        sum(x)
    }
}

fn main() {}
