mod outer {
    mind::mind! {
        use self::Outer as Inner;
        pub struct Outer { pub of: Inner }
    }
}

fn main() {}
