mind::include!("files/utf8.mind");

fn main() {}
