//! Leading dimensions cannot be axes, bounds or tensors.

mind::mind! {
    fn summed<..B>(x: float[..B]) { sum(x, axis = [..B]) }
    fn first<..B>(x: float[..B], y: float[..]) { slice(y, [0], [..B]) }
    fn shape<..B>(x: float[..B]) { [..B, 2] + 1 }

    fn f(x: f32[2]) -> f32 { summed(x) }
    fn g(x: f32[2], y: f32[3]) -> f32[2] { first(x, y) }
    fn h(x: f32[1]) -> i64[2] { shape(x) }
}

fn main() {}
