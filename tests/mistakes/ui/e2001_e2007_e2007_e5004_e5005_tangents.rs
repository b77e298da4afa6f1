use mind::mind;

mind! {
    fn f(x: f32[3], n: i64) -> f32[3] { x * f32(n) }
    fn index(x: f32[3]) -> i64 { argmax(x) }

    fn missing(x: f32[3]) -> f32[3] { let (y, dy) = jvp(f, wrt = x)(x, 2); y + dy }
    fn too_many(x: f32[3]) -> f32[3] { let (y, dy) = jvp(f, wrt = x)(x, 2, x, x); y + dy }
    fn shape(x: f32[3]) -> f32[3] { let (y, dy) = jvp(f, wrt = x)(x, 2, x[..2]); y + dy }
    fn integer(x: f32[3]) -> f32[3] { let (y, dy) = jvp(f, wrt = n)(x, 2, 1); y + dy }
    fn result(x: f32[3]) -> i64 { let (y, dy) = jvp(index, wrt = x)(x, x); y + dy }
}

fn main() {}
