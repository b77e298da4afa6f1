mod parts {
    mind::mind! {
        pub fn third<N>(x: f32[N]) -> f32 {
            at(x)
        }

        fn at<N>(x: f32[N]) -> f32 {
            x[2]
        }
    }
}

mind::mind! {
    use crate::parts::third;

    fn f(x: f32[2]) -> f32 {
        third(x)
    }
}

fn main() {}
