//! Both text forms.

use mind_core::{
    testing::random_module,
    text::{Limits, core_ir, json, mic},
};

#[test]
fn round_trip_of_random_modules() {
    let limits = Limits::default();
    for seed in 0..10_000 {
        let module = random_module(seed, 5 + (seed % 40) as usize);
        let text = core_ir::print(&module);
        match core_ir::parse(&text, &limits) {
            Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
            Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
        }
        if seed % 10 == 0 {
            let text = json::print(&module);
            match json::parse(&text, &limits) {
                Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
                Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
            }
        }
        let text = mic::print(&module);
        match mic::parse(&text, &limits) {
            Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
            Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
        }
    }
}
