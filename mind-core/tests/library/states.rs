//! Steps of optimisers over structs of parameters, compared with the steps of each tensor, which are compared with
//! recorded ones.

use mind_core::{
    interp::{Array, Elements},
    surface::ast::{Formal, Struct, Template},
    ty::DType,
};

use super::support::{compiled, floats, run, structs, templates};

/// The parameters: both are matrices, as `muon_step` needs them.
const FIELDS: [(&str, [usize; 2]); 2] = [("w", [2, 3]), ("b", [3, 2])];

/// The library's struct that a function takes, if it is a step over one.
pub fn state_of(template: &Template) -> Option<String> {
    template.parameters.iter().find_map(|parameter| match &parameter.takes {
        Formal::State { name, .. } => Some(name.name.to_string()),
        Formal::Any | Formal::Params(_) | Formal::Tensor(_) | Formal::Constant { .. } => None,
    })
}

#[test]
fn a_step_over_parameters_is_that_of_each_to_the_bit() {
    let states = structs("optim");
    let mut tried = Vec::new();
    for template in templates("optim") {
        let Some(state) = state_of(&template) else { continue };
        let item = states.iter().find(|item| item.name == state).expect("it is declared in the same file");
        for dtype in [DType::F32, DType::F64] {
            compare(&template.name.to_string(), item, dtype);
        }
        tried.push(state);
    }
    for item in &states {
        assert!(tried.contains(&item.name.to_string()), "no function takes `{}`", item.name);
    }
    assert_eq!(tried.len(), 8, "{tried:?}");
}

fn compare(step: &str, state: &Struct, dtype: DType) {
    let alone = step.strip_suffix("_step").expect("it is called after the step of a tensor");
    let (counted, held): (Vec<_>, Vec<_>) =
        state.fields.iter().map(|field| field.name.to_string()).partition(|field| field == "steps");
    let declared: Vec<String> =
        FIELDS.iter().map(|(name, dims)| format!("{name}: {dtype}{dims:?}")).collect();
    let head = format!("struct Net {{ {} }}", declared.join(", "));
    let parameters = format!("net: Net, g: Net, s: optim::{}<Net>", state.name);
    let whole = format!(
        "{head} fn f({parameters}) -> (Net, optim::{}<Net>) {{ {step}(net, g, s, 0.125) }}",
        state.name
    );
    let (mut lines, mut tensors) = (String::new(), Vec::new());
    let number = if counted.is_empty() { "" } else { "s.steps + 1, " };
    for (name, _) in FIELDS {
        let new: Vec<String> = held.iter().map(|held| format!("{held}_{name}")).collect();
        let old: Vec<String> = held.iter().map(|held| format!("s.{held}.{name}, ")).collect();
        lines += &format!(
            "let (net_{name}, {}) = {alone}(net.{name}, g.{name}, {}{number}0.125);",
            new.join(", "),
            old.concat()
        );
    }
    for held in ["net"].into_iter().chain(held.iter().map(String::as_str)) {
        tensors
            .extend(FIELDS.iter().map(|(name, dims)| (format!("{held}_{name}"), format!("{dtype}{dims:?}"))));
    }
    tensors.extend(counted.iter().map(|_| ("s.steps + 1".to_owned(), "i64".to_owned())));
    let (values, types): (Vec<String>, Vec<String>) = tensors.into_iter().unzip();
    let apart =
        format!("{head} fn f({parameters}) -> ({}) {{ {lines} ({}) }}", types.join(", "), values.join(", "));
    let mut inputs = Vec::new();
    for place in 0..2 + held.len() {
        for (_, dims) in FIELDS {
            // Positive numbers, because some steps take a square root.
            let numbers: Vec<f64> =
                (0..6).map(|element| ((5 * element + 3 * place) % 7 + 1) as f64 / 7.0).collect();
            inputs.push(floats(dtype, &dims, &numbers));
        }
    }
    inputs.extend(counted.iter().map(|_| Array::new([], Elements::I64(vec![4]))));
    let [found, wanted] = [whole, apart].map(|program| run(&compiled("optim", &program), &inputs));
    assert_eq!(found, wanted, "{step} in {dtype}");
    assert_ne!(found[0], inputs[0], "{step} in {dtype} changes nothing");
}
