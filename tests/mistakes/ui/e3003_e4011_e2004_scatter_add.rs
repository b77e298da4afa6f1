//! Operands of `scatter_add` that do not fit together.

mind::mind! {
    fn rows(x: f32[3, 2], i: i32[4], u: f32[5, 2]) -> f32[3, 2] { scatter_add(x, i, u) }

    fn indices(x: f32[3, 2], i: f32[4], u: f32[4, 2]) -> f32[3, 2] { scatter_add(x, i, u) }

    fn elements(x: f32[3, 2], i: i32[4], u: i32[4, 2]) -> f32[3, 2] { scatter_add(x, i, u) }
}

fn main() {}
