mind::include!("files/comment.mind");

fn main() {}
