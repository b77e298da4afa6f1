mod numbers {
    mind::mind! {
        pub const EPS: float = 1e-3;
    }
}

mind::mind! {
    use numbers::EPS;
    fn f(x: i64[3]) -> i64[3] { x * EPS }
}

fn main() {}
