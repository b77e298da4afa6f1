use mind::mind;

mind! {
    fn total<N>(x: f32[N]) -> f32 {
        sum(x)
    } pullback(y, dy) {
        dy
    }
}

fn main() {}
