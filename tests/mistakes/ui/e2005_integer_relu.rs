use mind::mind;

mind! {
    fn f(x: i32[3]) -> i32[3] {
        relu(x)
    }
}

fn main() {}
