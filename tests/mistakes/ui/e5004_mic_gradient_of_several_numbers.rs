mind::include_mic!("sum.mic", grad = x);

fn main() {}
