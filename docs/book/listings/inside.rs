use mind::mind;

mind! {
    pub fn loss<N>(x: f32[N, 3], w: f32[3, 2], b: f32[2]) -> f32 {
        let h = relu(x @ w + b);
        mean(h * h)
    }
}

fn main() {
    println!("{}", loss::CORE_IR);
    println!("{}", loss::MIC);
    println!("{} operations, {} bytes", loss::flops(1000), loss::peak_bytes(1000));
}
