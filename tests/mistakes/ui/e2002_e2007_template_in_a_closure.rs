//! An unknown template of the library, and a call of one with too many arguments, in closures.
use mind::mind;

fn main() {
    let f = mind!(|x: f32[3]| nn::gelu(x, x, x));
    let g = mind!(|x: f32[3]| nn::gelus(x));
    let _ = (f, g);
}
