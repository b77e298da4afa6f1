mind::include!("files/characters.mind");

fn main() {}
