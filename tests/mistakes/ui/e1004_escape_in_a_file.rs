mind::include!("files/escape.mind");

fn main() {}
