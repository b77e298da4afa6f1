use mind::mind;

mind! {
    fn loss(w: f32[3]) -> f32 {
        sum(stop_gradient(w))
    }

    fn f(w: f32[3]) -> f32[3] {
        grad(loss, wrt = w)(w)
    }
}

fn main() {}
