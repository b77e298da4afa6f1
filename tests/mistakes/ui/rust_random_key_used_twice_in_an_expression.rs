#![deny(deprecated)]

use mind::mind;

fn main() {
    let key = 7_i64;
    let _x = mind!(random::gumbel(key, [2]) + random::exponential(key, [2]) : f32[2]);
}
