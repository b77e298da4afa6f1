use mind::mind;

mind! {
    struct Dense<I, O> { w: f32[I, 3], b: f32[O + 1] }

    fn bias(p: Dense<2, 3>) -> f32[4] { p.b }
}

fn main() {
    let _: Option<Dense<usize, usize>> = None;
}
