//! A shift by a negative number is an error.

mind::mind! {
    fn shifted<N>(x: i32[N]) -> i32[N] {
        x << -1
    }
}

fn main() {}
