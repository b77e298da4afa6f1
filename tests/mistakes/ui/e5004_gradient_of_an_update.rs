use mind::mind;

mind! {
    fn step(w: &mut f32[3]) -> f32 {
        w *= 2.0;
        sum(w)
    }

    fn f(w: f32[3]) -> f32[3] {
        grad(step, wrt = w)(w)
    }
}

fn main() {}
