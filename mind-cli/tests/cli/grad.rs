//! Tests of `mind grad`.

use crate::support::{Folder, LAYER, LOSS};

#[test]
fn the_gradient_is_a_program_of_its_own() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let mic = folder.mind("grad loss.mind --wrt w,b").fine();
    assert!(mic.starts_with("mic@1\nS0 \"loss_grad\"\n"), "{mic}");
    let said = folder.mind_with("check -", &*mic).fine();
    assert!(said.ends_with("3 outputs\n") && said.contains("loss_grad: ok, 3 inputs, "), "{said}");
    let said = folder.mind_with("check --profile core-v1 -", &*mic).mistakes();
    assert!(said.contains("error[E4013]"), "{said}");
    let core = folder.mind("grad loss.mind --wrt w,b --profile core-v1").fine();
    folder.mind_with("check --profile core-v1 -", core).fine();
}

#[test]
fn it_computes_what_it_says() {
    let folder = Folder::new().with("square.mind", "fn square(x: f64, y: f64) -> f64 { x * x * y }");
    folder.mind("grad square.mind --wrt y,x -o square.ir").fine();
    let said = folder.mind("run square.ir --input x=3 --input y=5").fine();
    assert_eq!(said, "output 0: f64 = 45\noutput 1: f64 = 9\noutput 2: f64 = 30\n");
}

#[test]
fn elements_behind_a_mask_contribute_nothing() {
    let program = "fn f(x: f64) -> f64 { let y = reshape(log(x), [1]); sum(where(x > 0.0, y * y, 0.0)) }";
    let folder = Folder::new().with("f.mind", program);
    folder.mind("grad f.mind --wrt x -o f.ir").fine();
    let said = folder.mind("run f.ir --input x=0").fine();
    assert_eq!(said, "output 0: f64 = 0\noutput 1: f64 = 0\n");
    let program = "fn f(x: f64) -> f64 { let y = reshape(sqrt(x), [1]); sum(where(x > 0.0, y, 0.0)) }";
    let folder = folder.with("root.mind", program);
    folder.mind("grad root.mind --wrt x -o root.ir").fine();
    let said = folder.mind("run root.ir --input x=4").fine();
    assert_eq!(said, "output 0: f64 = 2\noutput 1: f64 = 0.25\n");
}

#[test]
fn the_form_is_that_of_the_output_else_of_the_input() {
    let folder = Folder::new().with("loss.mind", LOSS);
    folder.mind("grad loss.mind --wrt w -o grad.json").fine();
    assert!(folder.read("grad.json").starts_with("{\n"));
    folder.mind("grad loss.mind --wrt w -o grad.dot").fine();
    assert!(folder.read("grad.dot").contains("label=\"gradient of w\""));
    assert!(folder.mind("grad loss.mind --wrt w --to core-ir").fine().starts_with("%0 = Input"));
    let core_ir = folder.mind("convert loss.mind --to core-ir").fine();
    assert!(folder.mind_with("grad - --wrt w", core_ir).fine().starts_with("%0 = Input"));
}

#[test]
fn outputs_that_are_no_number_need_a_cotangent() {
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("grad layer.mic --wrt w").mistakes();
    assert!(said.starts_with("mic: error[E5004]: "), "{said}");
    assert!(said.contains("= help: reduce the output to a single number, or give --cotangent\n"), "{said}");
    let mic = folder.mind("grad layer.mic --wrt w --cotangent").fine();
    assert!(mic.contains("\"cotangent\""), "{mic}");
}

#[test]
fn wrong_names_are_all_reported() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let said = folder.mind("grad loss.mind --wrt z,w,w").mistakes();
    assert!(said.contains("mind: error[E2002]: the program has no input `z`\n"), "{said}");
    assert!(said.contains("= help: its inputs are x: f32[N, 3], w: f32[3, 2], b: f32[2]\n"), "{said}");
    assert!(said.contains("mind: error[E2008]: `w` is named twice in --wrt\n"), "{said}");
    assert!(said.ends_with("2 mistakes; `mind explain E2002` explains it\n"), "{said}");
    assert!(folder.mind("grad loss.mind").misuse().contains("--wrt <NAMES>"));
}

#[test]
fn a_parameter_without_influence_is_an_error_unless_zeros_are_asked_for() {
    let folder = Folder::new().with("net.mind", "fn f(x: f32[2], y: f32[2]) -> f32 { sum(x) }");
    let said = folder.mind("grad net.mind --wrt y").mistakes();
    assert!(said.starts_with("mind: error[E5005]: "), "{said}");
    assert!(said.contains("help: remove it from --wrt, or give --zero-ok for zeros\n"), "{said}");
    folder.mind("grad net.mind --wrt y --zero-ok").fine();
}

#[test]
fn what_core_v1_cannot_differentiate_is_said() {
    let text = "fn f(x: f32[1, 4, 4, 1], w: f32[3, 3, 1, 1]) -> f32 { sum(conv2d(x, w)) }";
    let folder = Folder::new().with("net.mind", text);
    folder.mind("grad net.mind --wrt w").fine();
    let said = folder.mind("grad net.mind --wrt w --profile core-v1").mistakes();
    assert!(said.starts_with("mind: error[E5001]: `Conv2d` has no derivative in this profile"), "{said}");
}
