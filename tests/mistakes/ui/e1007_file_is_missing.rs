mind::include!("files/missing.mind");

fn main() {}
