//! A template of the library is called in a closure with integers.
use mind::mind;

fn main() {
    let f = mind!(|i: i64[3]| nn::softmax(i));
    let _ = f;
}
