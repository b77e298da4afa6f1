mind::include!("files/unfinished.mind");

fn main() {}
