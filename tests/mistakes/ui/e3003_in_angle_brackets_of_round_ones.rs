use mind::mind;

fn main() {
    let _f = mind!(< |x: f32[2, 3], w: f32[2, 4]| relu(x @ w) >);
}
