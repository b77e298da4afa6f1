mind::include_mic!("broken.mic");

fn main() {}
