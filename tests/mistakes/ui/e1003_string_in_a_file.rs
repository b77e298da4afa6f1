mind::include!("files/string.mind");

fn main() {}
