use mind::mind;

mind! {
    fn axis<N>(x: f32[N, 3]) -> f32[N, 3] { cumsum(x, axis = 2) }

    fn number(x: f32) -> f32 { cumsum(x, axis = 0) }

    fn of_truths(x: bool[3]) -> bool[3] { cumsum(x, axis = 0) }

    fn no_axis<N>(x: f32[N, 3]) -> f32[N, 3] { cumsum(x) }

    fn no_flag(x: f32[3]) -> f32[3] { cumsum(x, 0, reverse = 1) }

    fn several<N>(x: f32[N, 3]) -> f32[N, 3] { cumsum(x, axis = [0, 1]) }
}

fn main() {}
