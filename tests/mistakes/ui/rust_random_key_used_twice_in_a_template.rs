#![deny(deprecated)]

use mind::mind;

mind! {
    fn twice(x: float[..], key: i64) {
        nn::dropout(nn::dropout(x, key, 0.5), key, 0.5)
    }
}

fn main() {}
