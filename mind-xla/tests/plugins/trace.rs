//! Traces by the profiler of a plugin, and plugins that have none.

use mind_xla::{Plugin, Trace};

use crate::fake::{assert_nothing_is_left, compiled, variant, x};

#[test]
fn a_trace_has_what_ran_until_it_was_stopped() {
    let copy = variant("traces");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let run = || {
        let (executable, mut on_devices) = compiled(&plugin, "");
        let x = x();
        let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
        call.run().expect("it runs");
    };
    let trace = plugin.trace().expect("it starts");
    run();
    let bytes = trace.stop().expect("it stops");
    assert_eq!(String::from_utf8_lossy(&bytes[2..]), "run 1 starts, run 1 ends");
    let dropped: Trace = plugin.trace().expect("it starts");
    drop(dropped);
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_plugin_that_cannot_trace_says_why() {
    for (name, expected) in [
        ("good", "(UNIMPLEMENTED): it has no profiler"),
        ("busy", "(FAILED_PRECONDITION): another profiler runs"),
    ] {
        let copy = variant(name);
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let error = plugin.trace().expect_err("it cannot trace").to_string();
        assert_eq!(error, format!("the plugin failed to start a trace {expected}"));
        assert_nothing_is_left(&plugin);
    }
}
