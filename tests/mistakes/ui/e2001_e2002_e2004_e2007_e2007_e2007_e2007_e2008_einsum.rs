use mind::mind;

mind! {
    fn no_text(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum(x, w) }
    fn unknown(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij,jk->il", x, w) }
    fn elements(x: f32[2, 3], w: f64[3, 5]) -> f32[2, 5] { einsum("ij,jk->ik", x, w) }
    fn nothing() -> f32[2, 5] { einsum("ij,jk->ik") }
    fn named(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij,jk->ik", x, y = w) }
    fn few(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij,jk,kl->il", x, w) }
    fn many(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij->i", x, w) }
    fn twice(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 2] { einsum("ij,jk->ii", x, w) }
}

fn main() {}
