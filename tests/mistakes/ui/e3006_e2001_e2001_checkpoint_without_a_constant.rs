use mind::mind;

mind! {
    fn none(xs: f32[9]) -> f32 { fold h = 0.0 for x in xs, checkpoint = 0 { h + x } }

    fn symbol<N>(xs: f32[N]) -> f32 { fold h = 0.0 for x in xs, checkpoint = N { h + x } }

    fn tensor(xs: f32[9], k: i64) -> f32 { fold h = 0.0 for x in xs, checkpoint = k { h + x } }
}

fn main() {}
