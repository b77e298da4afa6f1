mind::include_ks!("mistakes.ks");

fn main() {}
