mind::include!(files);

fn main() {}
