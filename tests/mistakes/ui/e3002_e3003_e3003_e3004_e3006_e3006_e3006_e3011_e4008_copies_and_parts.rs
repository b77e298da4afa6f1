use mind::mind;

mind! {
    fn axes(x: f32[2, 3]) -> f32[4, 3] { tile(x, [2]) }
    fn equal(x: f32[7]) -> f32[2] { split(x, 3, axis = 0).0 }
    fn unknown<N>(x: f32[N]) -> f32[N] { split(x, 3, axis = 0).0 }
    fn axis(x: f32[7]) -> f32[14] { repeat(x, 2, axis = 1) }
    fn none(x: f32[7]) -> f32[7] { tile(x, [0]) }
    fn negative(x: f32[7]) -> f32[7] { repeat(x, -2, axis = 0) }
    fn empty(x: f32[7]) -> f32[5] { split(x, [5, 5], axis = 0).0 }
    fn outside(x: f32[7]) -> f32[8] { split(x, [8], axis = 0).0 }
    fn step(x: f32[7]) -> f32[7] { x[..;0] }
}

fn main() {}
