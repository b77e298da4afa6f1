mind::include_ks!("nothing.ks");

fn main() {}
