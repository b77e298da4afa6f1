use mind::mind;

mind! {
    fn rank(x: f32[2, 3], w: f32[3, 5]) -> f32[2, 5] { einsum("ijk,jk->ik", x, w) }
    fn ellipsis(x: f32[2, 3], w: f32[3, 5]) -> f32[5] { einsum("...j,jk->k", x, w) }
    fn differ<N>(x: f32[N, 3], w: f32[4, 5]) -> f32[N, 5] { einsum("ij,jk->ik", x, w) }
    fn diagonal<N>(x: f32[N, 3]) -> f32[N] { einsum("ii->i", x) }
}

fn main() {}
