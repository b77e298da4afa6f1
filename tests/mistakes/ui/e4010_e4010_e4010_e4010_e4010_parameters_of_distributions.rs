use mind::mind;

mind! {
    fn negative(key: i64) -> f32[2] { random::gamma(key, -1.0, [2]) }

    fn zero(key: i64, a: f64[2]) -> f64[2] { random::beta(key, a, 0.0, [2]) }

    fn rate(key: i64) -> i32[2] { random::poisson(key, -0.5, [2]) }

    fn freedom(key: i64) -> f32[2] { random::student_t(key, 0.0, [2]) }

    fn bounds(key: i64) -> f32[2] { random::truncated_normal(key, 1.0, -1.0, [2]) }
}

fn main() {}
