//! A variable is declared as another struct than it is in Rust.
use mind::{Const, mind};

mod nets {
    mind::mind! {
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }
        pub struct Line { pub a: f32, b: f32[2] }
        pub fn turned(p, b) { Dense { w: p.w.T, b } }
        pub fn mixed<P: params>(p: P, q: P) { p + q }
        pub fn halved(x: f32[.., 2]) { x * 0.5 }
        pub fn summed(x: float[..]) { sum(x, axis = -1) }
    }
}

fn main() {
    let p = nets::Dense::<Const<3>, Const<2>>::zeros();
    let q = nets::Line::zeros();
    let _ = mind!((p: nets::Line) * 2.0);
    let _ = q;
}
