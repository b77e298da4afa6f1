mind::include_mic!("sum.mic", gradient = x);

fn main() {}
