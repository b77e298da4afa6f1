use mind::mind;

mind! {
    fn narrow(key: i32) -> f32[2] { random::uniform(key, [2]) }

    fn several(keys: i64[2]) -> f32[2] { random::normal(keys, [2]) }

    fn integers(key: i64) -> f32[2] { random::normal(key, [2], dtype = i32) }

    fn negative(key: i64) -> f32[2] { random::exponential(key, [-2]) }

    fn certain(key: i64) -> bool[2] { random::bernoulli(key, 1.5, [2]) }

    fn all_dropped(x: f32[2], key: i64) -> f32[2] { nn::dropout(x, key, -0.5) }
}

fn main() {}
