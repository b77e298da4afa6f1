use mind::mind;

fn main() {
    let rows = vec![vec![1.0_f32, 2.0], vec![3.0, 4.0]];
    let _ = mind!(sum(rows));
}
