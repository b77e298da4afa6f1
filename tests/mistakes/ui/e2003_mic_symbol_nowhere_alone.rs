mind::include_mic!("twice.mic");

fn main() {}
