//! An imported template is not public.
mod layers {
    mind::mind! {
        fn halved(x: float[..]) { x / 2.0 }
        pub fn quartered(x: float[..]) { halved(halved(x)) }
    }
}

mind::mind! {
    use layers::halved;
    fn f(x: f32[2]) -> f32[2] { halved(x) }
}

fn main() {}
