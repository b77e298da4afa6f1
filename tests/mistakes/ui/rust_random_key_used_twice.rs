#![deny(deprecated)]

use mind::mind;

mind! {
    fn noise<N>(x: f32[N], key: i64) -> f32[N] {
        let shift = random::normal(key, [N]);
        x * random::uniform(key, [N]) + shift
    }

    #[allow(deprecated)]
    fn wanted(key: i64) -> f32[2] {
        random::normal(key, [2]) + random::uniform(key, [2])
    }

    fn split(key: i64) -> f32[2] {
        let keys = random::split(key);
        random::normal(keys[0], [2]) + random::uniform(keys[1], [2])
    }
}

fn main() {}
