use mind::mind;

mind! {
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }
    struct Net { first: Dense<64, 32>, last: Dense<10> }

    fn last(p: Net) -> f32[10] { p.last.b }
}

fn main() {}
