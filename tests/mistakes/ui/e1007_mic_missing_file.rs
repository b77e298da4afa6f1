mind::include_mic!("absent.mic");

fn main() {}
