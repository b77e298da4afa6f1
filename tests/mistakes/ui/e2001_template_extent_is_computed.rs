//! An extent that is made of others is not what an argument has.

mind::mind! {
    fn gates<H>(h: float[.., H], w: float[H, 4 * H]) { h @ w }
    fn f<N>(h: f32[N, 8], w: f32[8, 24]) -> f32[N, 32] { gates(h, w) }
}

fn main() {}
