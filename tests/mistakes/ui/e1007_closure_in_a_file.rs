fn main() {
    let _ = mind::include!("files/closure.mind");
}
