use mind::mind;

mind! {
    fn f(x: i64[3], y: i64[3]) -> i64[3] {
        x / y
    }
}

fn main() {}
