use mind::mind;

mind! {
    fn output(x: f32[2, 2, 2, 2, 2], y: f32[2, 2, 2, 2, 2]) -> f32 { einsum("abcde,fghij->abcdefghij", x, y) }
    fn between(x: f32[2, 2, 2, 2, 2, 2, 2, 2]) -> f32 {
        einsum("abcdefgh,abijklmn,cdijopqr,efklopst,ghmnqrst", x, x, x, x, x)
    }
}

fn main() {}
