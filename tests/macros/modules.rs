//! Functions that are written separately work together, whatever their names, their places and the order of imports.
#![deny(warnings)]

use mind::{Tensor, mind};

/// A function whose name its own expansion might use.
mod block {
    use super::*;

    mind! {
        pub fn block<N>(x: f32[N]) -> f32[N] { x * 2.0 }
    }

    mod elsewhere {
        use super::*;

        mind! {
            use super::block;
            pub fn twice<N>(x: f32[N]) -> f32[N] { block(block(x)) }
        }
    }

    #[test]
    fn is_no_name_of_the_expansion() {
        assert_eq!(elsewhere::twice(&Tensor::from([1.0])), Tensor::from([4.0]));
    }
}

/// A block that is imported partly through another block, before or after it is imported directly.
mod order {
    use super::*;

    mod a {
        use super::*;

        mind! {
            pub fn one(x: f32[2]) -> f32[2] { x + 1.0 }
            pub fn two(x: f32[2]) -> f32[2] { one(x) * 2.0 }
        }
    }

    mod b {
        use super::*;

        mind! {
            use super::a::one;
            pub fn three(x: f32[2]) -> f32[2] { one(x) * 3.0 }
        }
    }

    mind! {
        use b::three;
        use a::two;
        fn part_first(x: f32[2]) -> f32[2] { three(x) + two(x) }
    }

    mind! {
        use a::two;
        use b::three;
        fn all_first(x: f32[2]) -> f32[2] { three(x) + two(x) }
    }

    #[test]
    fn of_imports_does_not_matter() {
        let x = Tensor::from([0.0, 1.0]);
        assert_eq!(part_first(&x), Tensor::from([5.0, 10.0]));
        assert_eq!(all_first(&x), Tensor::from([5.0, 10.0]));
    }
}

/// A function named like a module that another block imports from.
mod beside {
    use super::*;

    mod layers {
        pub mod dense {
            use crate::modules::mind;

            mind! {
                pub fn weight<N>(x: f32[N]) -> f32[N] { x * 0.5 }
            }
        }
    }

    mod first {
        use super::*;

        mind! {
            fn dense<N>(x: f32[N]) -> f32[N] { x + 1.0 }
            pub fn one<N>(x: f32[N]) -> f32[N] { dense(x) }
        }
    }

    mod second {
        use super::*;

        mind! {
            use super::layers::dense::weight;
            fn helper<N>(x: f32[N]) -> f32[N] { weight(x) }
            pub fn two<N>(x: f32[N]) -> f32[N] { helper(x) }
        }
    }

    mod third {
        use super::*;

        mind! {
            fn helper<N>(x: f32[N]) -> f32[N] { x - 1.0 }
            pub fn three<N>(x: f32[N]) -> f32[N] { helper(x) }
        }
    }

    mind! {
        use first::one;
        use second::two;
        use third::three;
        fn all<N>(x: f32[N]) -> f32[N] { one(x) + two(x) + three(x) }
    }

    #[test]
    fn private_helpers_of_one_name_work_together() {
        assert_eq!(all(&Tensor::from([2.0])), Tensor::from([5.0]));
    }

    #[test]
    fn blocks_stand_in_functions() {
        mind! {
            fn dense<N>(x: f32[N]) -> f32[N] { x * 3.0 }
        }
        fn inner() -> Tensor![f32; 1] {
            mind! {
                fn dense<N>(x: f32[N]) -> f32[N] { x * 5.0 }
            }
            dense(&Tensor::from([1.0]))
        }
        assert_eq!(dense(&Tensor::from([1.0])), Tensor::from([3.0]));
        assert_eq!(inner(), Tensor::from([5.0]));
    }
}
