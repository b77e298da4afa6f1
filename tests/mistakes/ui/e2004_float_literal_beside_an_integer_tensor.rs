use mind::mind;

mind! {
    fn f(x: i64[3]) -> i64[3] {
        x * 2.0
    }
}

fn main() {}
