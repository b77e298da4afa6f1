mod layers {
    mind::mind! {
        pub struct Inner { pub w: f32[3] }

        pub struct Outer { pub inner: Inner }
    }
}

mind::mind! {
    use self::layers::Outer;

    fn f(p: Outer[3]) -> f32 { sum(p.inner.w) }
}

fn main() {}
