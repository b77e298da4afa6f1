//! A dimension and a parameter of a template have the same name.

mind::mind! {
    fn rows<N, N>(x: float[N]) { x / N }
}

fn main() {}
