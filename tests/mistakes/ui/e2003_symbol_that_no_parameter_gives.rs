use mind::mind;

mind! {
    fn f<N>(x: f32[3]) -> f32[N] {
        zeros([N])
    }
}

fn main() {}
