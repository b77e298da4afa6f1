//! Checks that the examples `digits_xla` and `digits` have the same program, character for character.

#[test]
fn the_program_is_that_of_digits() {
    let block = |text: &'static str| {
        text.split_once("\nmind! {\n")
            .and_then(|(_, rest)| rest.split_once("\n}\n"))
            .expect("it has a block")
            .0
    };
    let here = block(include_str!("../../examples/digits_xla.rs"));
    assert_eq!(here, block(include_str!("../../../examples/digits/main.rs")));
}
