use mind::mind;

fn main() {
    let f = mind!(|x: f32[2, 3], w: f32[4, 5]| relu(x @ w));
    let _ = f;
}
