//! A template is called in a file with a shape that it does not take.
mod layers {
    mind::include!("files/template_contract.mind");
}

fn main() {}
