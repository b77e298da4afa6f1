use mind::mind;

mind! {
    fn f(xs: f32[3, 4]) -> f32[3] { fold h = zeros([3]) for x in xs, axis = 2 { h + x } }
    fn g(xs: f32[3, 4]) -> f32[3] { for x in xs, out = 1 { sum(x) } }
}

fn main() {}
