fn main() {
    let _ = mind::include!("files/expression.mind");
}
