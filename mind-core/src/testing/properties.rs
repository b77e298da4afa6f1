//! Properties that hold for every input. Fuzzers check them on inputs of their choice, and tests on seeded inputs.
//!
//! A property that does not hold panics with the module that breaks it.

pub use super::surface::{surface_text_is_formatted_or_refused, surface_text_is_read_or_refused};
use super::{
    loops_from_bytes, module_from_bytes, possible_updates, random_inputs, same, special_inputs,
    zero_cotangents_stay_zero,
};
use crate::{
    canon::{Canonical, canonicalise},
    diag::{Diag, Diags},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::run,
    ir::{Module, ValueId},
    ops::Profile,
    opt::{optimise, optimise_exactly, unoptimised},
    plan::plan,
    text::{Document, Limits, core_ir, mic},
    verify::{Verified, verify},
};

/// Bytes are refused as Core IR text, or read as a module, which may be invalid. Printing the module and reading it
/// again gives the same module, for a valid one also as MIC.
pub fn core_ir_text_is_read_or_refused(bytes: &[u8]) {
    if let Some(document) = read(core_ir::parse_bytes(bytes, &Limits::default())) {
        reads_back_from_core_ir(&document.module);
        if verify(document.module.clone(), Profile::Extended).is_ok() {
            reads_back_from_mic(&document.module);
        }
    }
}

/// Bytes are refused as MIC, or read as a module, which may be invalid. Printing it in both texts and reading it again
/// gives the same module, with the same comments.
pub fn mic_text_is_read_or_refused(bytes: &[u8]) {
    if let Some(document) = read(mic::parse_bytes(bytes, &Limits::default())) {
        reads_back(&document.module);
        let printed = mic::print_document(&document);
        let again = mic::parse_document(&printed, &Limits::default()).expect("printed text is read");
        assert_eq!(mic::print_document(&again), printed, "printing twice prints the same");
    }
}

/// A text that is a valid module passes through every phase: canonical form, gradients in both profiles, the optimiser,
/// the plan, and the text of each.
pub fn every_phase_takes_what_the_one_before_makes(bytes: &[u8]) {
    let as_mic = read(mic::parse_bytes(bytes, &Limits::default()));
    let Some(document) = as_mic.or_else(|| read(core_ir::parse_bytes(bytes, &Limits::default()))) else {
        return;
    };
    let Ok(module) = document.verify(Profile::Extended) else { return };
    let canonical = canonicalise(module);
    goes_on(&canonical);
    for profile in [Profile::Extended, Profile::CoreV1] {
        for gradient in gradients(&canonical, profile) {
            goes_on(&gradient);
        }
    }
}

/// A module that the bytes choose is valid and reads back from both texts. In canonical form and optimised it computes
/// the same results bit for bit, except that all NaNs are equal. This holds for special inputs too.
pub fn modules_keep_their_meaning(bytes: &[u8]) {
    let module = module_from_bytes(bytes);
    reads_back(&module);
    let verified = verify(module, Profile::Extended).expect("the generator makes valid modules");
    let canonical = canonicalise(verified.clone());
    reads_back(&canonical);
    goes_on(&canonical);
    let optimised = verify((*optimise_exactly(&canonical)).clone(), Profile::Extended)
        .expect("optimised modules are valid");
    let forms: [(&str, &Verified); 2] = [("canonical", canonical.as_verified()), ("optimised", &optimised)];
    for inputs in [random_inputs(&verified, 1), special_inputs(&verified, 1)].into_iter().flatten() {
        // An unused gather that stops the program may be removed in the other forms.
        let Ok(expected) = run(&verified, &inputs) else { continue };
        for (form, module) in forms {
            let found = run(module, &inputs).expect("a module that runs as it was runs in every form");
            let equal = expected.len() == found.len() && expected.iter().zip(&found).all(|(a, b)| same(a, b));
            assert!(
                equal,
                "the {form} module gives {found:?}, the one as it was {expected:?}:\n{}",
                *verified
            );
        }
    }
}

/// The gradients of a module of loops that the bytes choose, and their gradients, compute the same results bit for bit
/// when they are optimised, except that all NaNs are equal. Loops with a checkpoint run some steps again in them.
pub fn gradients_of_loops_keep_their_meaning(bytes: &[u8]) {
    let verified =
        verify(loops_from_bytes(bytes), Profile::Extended).expect("the generator makes valid modules");
    let firsts = gradients(&canonicalise(verified), Profile::Extended);
    let seconds: Vec<Canonical> =
        firsts.iter().take(1).flat_map(|first| gradients(first, Profile::Extended)).take(2).collect();
    for gradient in firsts.iter().chain(&seconds) {
        let optimised =
            verify((*optimise_exactly(gradient)).clone(), Profile::Extended).expect("it is valid");
        let Some(inputs) = random_inputs(gradient.as_verified(), 1) else { continue };
        let Ok(expected) = run(gradient.as_verified(), &inputs) else { continue };
        let found = run(&optimised, &inputs).expect("a module that runs as it was runs optimised");
        let equal = expected.iter().zip(&found).all(|(a, b)| same(a, b));
        assert!(
            equal,
            "optimised it gives {found:?}, as it was {expected:?}:\n{}\n{}",
            core_ir::print(gradient),
            core_ir::print(&optimised)
        );
    }
}

/// In a module that the bytes choose, elements that masks exclude do not affect gradients: see
/// [`zero_cotangents_stay_zero`].
pub fn masked_elements_do_not_count(bytes: &[u8]) {
    let seed = bytes.iter().fold(0_u64, |seed, byte| seed.rotate_left(7) ^ u64::from(*byte));
    zero_cotangents_stay_zero(module_from_bytes(bytes), seed);
}

/// The document that was read. For refused bytes every mistake is shown, since showing it must not fail either.
fn read(result: Result<Document, Diags>) -> Option<Document> {
    let show = |diags: Diags| {
        assert!(!diags.is_empty(), "a refusal says why");
        shown(diags);
    };
    result.map_err(show).ok()
}

/// Shows mistakes, and checks that each has a message.
pub(super) fn shown(diags: impl IntoIterator<Item = Diag>) {
    for diag in diags {
        assert!(!diag.message.is_empty() && !diag.to_string().is_empty(), "a refusal says why");
    }
}

fn reads_back(module: &Module) {
    reads_back_from_core_ir(module);
    reads_back_from_mic(module);
}

fn reads_back_from_core_ir(module: &Module) {
    let text = core_ir::print(module);
    assert_eq!(core_ir::parse(&text, &Limits::default()).as_ref().ok(), Some(module), "{text}");
}

/// MIC cannot write every invalid module: its slices have equal numbers of starts, ends and steps.
fn reads_back_from_mic(module: &Module) {
    let text = mic::print(module);
    assert_eq!(mic::parse(&text, &Limits::default()).as_ref().ok(), Some(module), "{text}");
}

fn goes_on(canonical: &Canonical) {
    let again = canonicalise(canonical.clone().into_verified());
    assert_eq!(*canonical, again, "canonical form is a fixed point");
    reads_back(canonical);
    let optimised = optimise(canonical);
    assert!(verify((*optimised).clone(), Profile::Extended).is_ok(), "optimised modules are valid");
    let updates = possible_updates(&optimised);
    for program in [optimised, unoptimised(canonical)] {
        let _ = plan(&program, &[]);
        let _ = plan(&program, &updates);
    }
}

/// The gradients by each single floating-point input, as far as they exist.
fn gradients(canonical: &Canonical, profile: Profile) -> Vec<Canonical> {
    let inputs = canonical.inputs().count();
    let gradient = |position: usize| {
        let wrt = vec![Wrt { input: ValueId::new(position), zero_ok: true }];
        let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile };
        differentiate(canonical, &options)
            .map_err(|error| {
                assert!(error.code() != crate::diag::Code::E5002, "{error}:\n{}", core_ir::print(canonical))
            })
            .ok()
            .map(|gradient| gradient.module)
    };
    (0..inputs).filter_map(gradient).collect()
}
