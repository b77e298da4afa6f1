//! A template of the library that there is not, and one with arguments too many, in closures.
use mind::mind;

fn main() {
    let f = mind!(|x: f32[3]| nn::gelu(x, x, x));
    let g = mind!(|x: f32[3]| nn::gelus(x));
    let _ = (f, g);
}
