use mind::mind;

mind! {
    fn f(x: i32[3]) -> i32[3] {
        x + 3000000000
    }
}

fn main() {}
