mind::include!("files/number.mind");

fn main() {}
