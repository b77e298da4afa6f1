fn dense(x: f32) -> f32 {
    x
}

mind::mind! {
    use self::dense;

    fn net(x: f32) -> f32 {
        dense(x)
    }
}

fn main() {
    net(dense(1.0));
}
