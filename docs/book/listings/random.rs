use mind::{Tensor, mind};

mind! {
    /// Random points, each near one of two centres.
    fn points(key: i64, centres: f32[2, 2], spread: f32) -> (f32[3, 2], i32[3]) {
        let keys = random::split(key);
        let of = random::randint(keys[0], [3], 0, 2);
        (gather(centres, of) + spread * random::normal(keys[1], [3, 2]), of)
    }
}

fn main() {
    let centres = Tensor::from([[0.0, 0.0], [8.0, 8.0]]);
    let (points, of) = points(42, &centres, 0.5);
    println!("{points:.2}\n{of}");
}
