use mind::mind;

mind! {
    fn mixed(a: f32, b: f32[2]) -> f32[2] { a * b }
    fn added(a: f32, b: f32) -> f32 { a + b }

    fn f(x: f32[3], y: f32[3, 2]) -> f32[3, 2] { associative_scan(mixed)(x, y) }
    fn g(x: f32[3]) -> f32[3] { associative_scan(added, axis = 1)(x) }
}

fn main() {}
