use mind::mind;

mind! {
    fn half(x: i64[3]) -> i64[3] {
        let y = x // 2;
        y
    }
}

fn main() {}
