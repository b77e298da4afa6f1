//! Templates of tensors are applied to each field of structs: all structs must be the same, and results must fit.
mind::mind! {
    struct A { w: f32[2], n: i64 }
    struct B { w: f32[2] }

    fn step(w: num[..], g: num[..]) { w - g }
    fn length(w: float[..]) { sum(w * w) }
    fn both<P: params>(a: P, b: P) { a + b }

    fn of_two(a: A, b: B) -> A { step(a, b) }
    fn of_lengths(b: B) -> B { length(b) }
    fn of_classes(a: A, b: B) -> A { both(a, b) }
}

fn main() {}
