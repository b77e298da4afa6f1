use mind::mind;

mind! {
    fn whole<N>(x: f32[N]) -> i64[N] {
        i64(x)
    } pullback(y, dy) {
        x
    }
}

fn main() {}
