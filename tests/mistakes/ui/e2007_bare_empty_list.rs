use mind::mind;

fn main() {
    let _ = mind!(sum(concat([])));
}
