use mind::mind;

mind! {
    struct Pair { both: (f32[3], f32[3]), scale: f32 }

    fn scale(p: Pair) -> f32 { p.scale }
}

fn main() {
    // The other fields exist in spite of the error.
    let _ = |pair: &Pair| pair.scale + 1.0;
}
