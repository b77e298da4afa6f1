//! An argument does not have the extent that is computed from another extent.

mind::mind! {
    fn gates<H>(h: float[.., H], w: float[H, 4 * H]) { h @ w }
    fn f<N>(h: f32[N, 8], w: f32[8, 24]) -> f32[N, 32] { gates(h, w) }
}

fn main() {}
