use mind::mind;

fn main() {
    let key = 7_i64;
    let _x = mind!(random::gamma(key, 2.0, [3]) : f32[3]);
}
