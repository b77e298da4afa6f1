//! A shift is by no negative number.

mind::mind! {
    fn shifted<N>(x: i32[N]) -> i32[N] {
        x << -1
    }
}

fn main() {}
