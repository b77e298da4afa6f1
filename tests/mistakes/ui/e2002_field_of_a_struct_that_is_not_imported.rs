mod layers {
    mind::mind! {
        pub struct Dense { w: f32[2, 3] }
        pub struct Net { pub first: Dense }
    }
}

mind::mind! {
    use layers::Net;
    fn net<N>(x: f32[N, 2], p: Net) -> f32[N, 3] { x @ p.first.w }
}

fn main() {}
