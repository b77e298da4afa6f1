use mind::mind;

mind! {
    fn separator(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij;jk->ik", x, w) }
    fn digit(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("i1,1k->ik", x, w) }
    fn outputs(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ij,jk->i,k", x, w) }
    fn dots(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("..ij,jk->ik", x, w) }
    fn twice(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("...i...,jk->ik", x, w) }
}

fn main() {}
