mind::include_mic!("mistyped.mic");

fn main() {}
