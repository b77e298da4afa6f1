use mind::mind;

mind! {
    struct Pair { a: f32[2], b: f32 }

    fn f(x: f32[3], p: Pair) -> f32 { sum(x) * p.b }
    fn pair(x: f32) -> Pair { Pair { a: broadcast_to(x, [2]), b: x } }

    fn structs(x: f32[3], p: Pair) -> f32[3] { vmap(f, over = p)(x, p) }
    fn made(x: f32[3]) -> f32[3] { vmap(pair, over = x, out = 1)(x) }
    fn missing(x: f32[4, 3], p: Pair) -> f32[4] { vmap(f, over = y)(x, p) }
    fn far(x: f32[3, 4], p: Pair) -> f32[4] { vmap(f, over = x, axis = 2)(x, p) }
}

fn main() {}
