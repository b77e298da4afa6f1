//! Rows at indices that are replaced by values that do not fit, or cannot be replaced.

mind::mind! {
    fn shape(x: &mut f32[4, 3], i: i32[2], u: f32[2, 2]) { x[i] = u; }

    fn floats(x: &mut f32[4, 3], i: f32[2], u: f32[2, 3]) { x[i] = u; }

    fn shared(x: f32[4, 3], i: i32[2], u: f32[2, 3]) { x[i] = u; }

    fn elements(x: &mut f32[4, 3], i: i32[2], u: f64[2, 3]) { x[i] = u; }

    fn part(x: &mut f32[4, 3], i: i32[2], u: f32[2]) { x[i, 0] = u; }

    fn scaled(x: &mut f32[4, 3], i: i32[2]) { x[i] *= 2.0; }

    fn sums(x: &mut f32[4, 3], i: i32[2], u: f32[2, 2]) { x[i] += u; }
}

fn main() {}
