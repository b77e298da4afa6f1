mind::include!("files/bracket.mind");

fn main() {}
