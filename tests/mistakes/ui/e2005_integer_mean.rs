use mind::mind;

mind! {
    fn f(x: i64[3]) -> i64 {
        mean(x)
    }
}

fn main() {}
