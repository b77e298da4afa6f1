//! Numbers as truth values and the reverse, and a selection from two element types.

mind::mind! {
    fn chosen<N>(mask: f32[N], x: f32[N], y: f32[N]) -> f32[N] {
        where(mask, x, y)
    }
    fn mixed<N>(mask: bool[N], x: f32[N], y: f64[N]) -> f32[N] {
        where(mask, x, y)
    }
    fn added<N>(mask: bool[N]) -> bool[N] {
        mask + mask
    }
    fn negated<N>(x: f32[N]) -> bool[N] {
        !x
    }
}

fn main() {}
