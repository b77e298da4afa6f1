mind::include_mic!("sum.mic", grad = (x, z));

fn main() {}
