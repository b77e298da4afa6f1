use mind::mind;

mind! {
    fn a(x: f32[3]) -> f32[3] {
        b(x)
    }

    fn b(x: f32[3]) -> f32[3] {
        c(x) + x
    }

    fn c(x: f32[3]) -> f32[3] {
        a(x) * x
    }

    fn outside_the_cycle(x: f32[3]) -> f32[3] {
        a(x)
    }
}

fn main() {}
