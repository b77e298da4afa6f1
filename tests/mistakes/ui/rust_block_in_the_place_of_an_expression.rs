use mind::mind;

fn main() {
    let f = mind!(fn f(x: f32[3]) -> f32 { sum(x) });
}
