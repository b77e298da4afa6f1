//! Behaviour when something else fails: threads that cannot be started, users' functions that panic, calls within
//! calls, processes that fork. The caller sees the fault, and the next call is correct.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;

use mind::{Rng, Tensor, TensorRef, Xoshiro256, mind, set_threads};

mind! {
    extern fn knossos::outside(x: f64[160], act: i64) -> f64[160];

    /// Large enough for several threads.
    fn layer(x: f64[160, 160], w: f64[160, 160]) -> f64[160, 160] {
        relu(x @ w) @ w
    }

    /// A product before the user's function and one after it, and a state that the caller sees.
    fn model(x: f64[160, 160], w: f64[160, 160], act: i64, state: &mut f64[160]) -> f64 {
        let given = outside(sum(relu(x @ w) @ w, axes = [0]), act);
        state += given;
        mean((x * given) @ w)
    }

    struct Layer { w: f32[300, 200], b: f32[200] }
}

mod knossos {
    mind::ks!(
        r#"
(edef user (Vec Float) ((Vec Float) Integer))
(def outside (Vec Float) ((v : Vec Float) (act : Integer)) (user v act))
"#,
        bind = [user = super::user]
    );
}

/// The actions of the user's function. The model passes one of them as an argument.
const RETURN: i64 = 0;
const PANIC: i64 = 1;
/// Calls a function that takes its own workspace and threads.
const CALL: i64 = 2;

fn user(v: &TensorRef<f64, (usize,)>, act: i64) -> Tensor<f64, (usize,)> {
    match act {
        // This skips the panic hook, which would print the panic.
        PANIC => resume_unwind(Box::new("the user's function")),
        CALL => {
            set_threads(3);
            let inputs = Inputs::new();
            assert_eq!(layer(&inputs.x, &inputs.w), inputs.layer);
            set_threads(2);
        }
        _ => {}
    }
    Tensor::from_vec((v.len(),), v.iter().map(|x| 0.5 * x).collect()).expect("as many")
}

/// Inputs, and the result of `layer`.
struct Inputs {
    x: Tensor![f64; 160, 160],
    w: Tensor![f64; 160, 160],
    layer: Tensor![f64; 160, 160],
}

impl Inputs {
    fn new() -> Self {
        let number = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64 / 101.0 - 0.4;
        let (x, w) = (Tensor::from_fn(|[i, j]| number(i, j)), Tensor::from_fn(|[i, j]| number(j, 3 * i)));
        let layer = layer(&x, &w);
        Self { x, w, layer }
    }

    /// Calls the model with this action of the user's function. Returns the result, and the state after the call.
    fn model(&self, act: i64) -> (thread::Result<f64>, Tensor![f64; 160]) {
        let mut state = Tensor::full(1.0);
        let result = catch_unwind(AssertUnwindSafe(|| model(&self.x, &self.w, act, &mut state)));
        (result, state)
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().expect("a text")
}

#[test]
fn a_panic_in_a_users_function_reaches_the_caller_and_nothing_is_written() {
    set_threads(4);
    let inputs = Inputs::new();
    let (value, state) = inputs.model(RETURN);
    let value = value.expect("no panic");
    let panic_and_return = || {
        let (result, untouched) = inputs.model(PANIC);
        assert_eq!(message(&*result.expect_err("it panics")), "the user's function");
        assert_eq!(untouched, Tensor::full(1.0));
        let (again, state_again) = inputs.model(RETURN);
        assert_eq!((again.expect("no panic"), state_again), (value, state.clone()));
    };
    panic_and_return();
    // A call that panics releases everything that it has taken, including the workspace.
    let allocated = allocation_counter::measure(|| (0..8).for_each(|_| panic_and_return()));
    assert_eq!((allocated.count_current, allocated.bytes_current), (0, 0));
}

#[test]
fn a_users_function_calls_another_function_while_a_workspace_is_out() {
    let inputs = Inputs::new();
    let expected = inputs.model(RETURN);
    let found = inputs.model(CALL);
    assert_eq!((found.0.expect("no panic"), found.1), (expected.0.expect("no panic"), expected.1));
}

#[test]
fn threads_of_the_pool_call_functions_that_share_their_work_and_set_how_many_there_are() {
    set_threads(4);
    let inputs = Inputs::new();
    let (value, state) = inputs.model(RETURN);
    let value = value.expect("no panic");
    let all = || {
        let (result, found) = inputs.model(CALL);
        assert_eq!((result.expect("no panic"), found), (value, state.clone()));
    };
    let panics = || {
        let panic = inputs.model(PANIC).0.expect_err("it panics");
        assert_eq!(message(&*panic), "the user's function");
    };
    for _ in 0..5 {
        set_threads(4);
        mind::__private::join(
            || mind::__private::join(all, panics),
            || mind::__private::join(|| set_threads(8), || mind::__private::join(panics, all)),
        );
        let caught =
            catch_unwind(AssertUnwindSafe(|| mind::__private::join(all, || panic!("in the second half"))));
        assert_eq!(message(&*caught.expect_err("it panics")), "in the second half");
    }
    assert_eq!(layer(&inputs.x, &inputs.w), inputs.layer);
}

/// A generator that panics at the second number.
struct Tired(u32);

impl Rng for Tired {
    fn next_u64(&mut self) -> u64 {
        self.0 += 1;
        if self.0 == 2 {
            resume_unwind(Box::new("no more numbers"));
        }
        7
    }
}

#[test]
fn a_panic_in_a_users_generator_leaves_nothing_behind() {
    let make = |rng: &mut dyn Rng| (Layer::he_normal(rng).w[[299, 199]], Layer::glorot_uniform(rng).b[[0]]);
    let expected = make(&mut Xoshiro256::new(1));
    let allocated = allocation_counter::measure(|| {
        for _ in 0..20 {
            let caught = catch_unwind(|| make(&mut Tired(0)));
            assert_eq!(message(&*caught.expect_err("it panics")), "no more numbers");
            assert_eq!(make(&mut Xoshiro256::new(1)), expected);
        }
    });
    // One tensor is kept for the next one of its size.
    assert!(allocated.count_current <= 1, "{allocated:?}");
    let caught = catch_unwind(|| Tensor::<f32, (usize, usize)>::from_fn_with((100, 100), |_| panic!("here")));
    assert_eq!(message(&*caught.expect_err("it panics")), "here");
}

/// Calls a function when it is dropped.
struct Caller<'a>(&'a Inputs, mpsc::Sender<bool>);

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        let right = layer(&self.0.x, &self.0.w) == self.0.layer;
        self.1.send(right).expect("the test waits");
    }
}

#[test]
fn functions_are_called_while_a_panic_unwinds() {
    set_threads(4);
    let (inputs, (sender, right)) = (Inputs::new(), mpsc::channel());
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _caller = Caller(&inputs, sender);
        inputs.model(PANIC).0.unwrap_or_else(|panic| resume_unwind(panic));
    }));
    assert_eq!(message(&*caught.expect_err("it panics")), "the user's function");
    assert_eq!(right.recv(), Ok(true));
}

thread_local! {
    static LAST: RefCell<Option<Caller<'static>>> = const { RefCell::new(None) };
}

#[test]
fn functions_are_called_while_a_thread_ends() {
    set_threads(4);
    let (sender, right) = mpsc::channel();
    let inputs: &Inputs = Box::leak(Box::new(Inputs::new()));
    for calls_before in [true, false] {
        let sender = sender.clone();
        let ending = thread::spawn(move || {
            LAST.set(Some(Caller(inputs, sender)));
            // The order in which a thread drops its thread-local values depends on which was used first.
            calls_before && layer(&inputs.x, &inputs.w) == inputs.layer
        });
        assert_eq!(ending.join().expect("no panic"), calls_before);
        assert_eq!(right.recv(), Ok(true));
    }
}

/// A child process, because it needs its own environment.
mod child {
    use super::*;

    const CHILD: &str = "MIND_FAULTS_CHILD";

    /// Computes the result of [`Inputs::new`] on several threads, and prints the number of threads.
    #[test]
    fn threads_that_cannot_be_started() {
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        set_threads(1);
        let inputs = Inputs::new();
        set_threads(8);
        let right = || assert_eq!(layer(&inputs.x, &inputs.w), inputs.layer);
        right();
        let allocated = allocation_counter::measure(|| (0..8).for_each(|_| right()));
        assert_eq!((allocated.count_current, allocated.bytes_current), (0, 0));
        let started = std::fs::read_dir("/proc/self/task").map(Iterator::count);
        println!("started: {started:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn where_no_thread_can_be_started_the_caller_does_the_work() {
        let started = |stack: &str| {
            let output = std::process::Command::new(std::env::current_exe().expect("the binary has a path"))
                .args(["child::threads_that_cannot_be_started", "--exact", "--nocapture", "--test-threads=1"])
                .env(CHILD, "1")
                .env("RUST_MIN_STACK", stack)
                .output()
                .expect("the binary can be run again");
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{out}{err}");
            let (_, started) = out.split_once("started: Ok(").expect("the child says how many");
            started.split(')').next().and_then(|number| number.parse::<usize>().ok()).expect("a number")
        };
        assert!(started("1000000") > 7);
        // No address space has room for a stack of 2⁵⁰ bytes.
        assert_eq!(started("1125899906842624"), 1);
    }
}

/// Other threads of the parent are in calls at the time of the fork and may hold locks.
#[test]
#[cfg(unix)]
fn a_fork_computes_what_its_parent_does() {
    /// The number of seconds after which a hanging child is killed.
    const ALARM: u32 = 60;
    set_threads(4);
    let inputs = &Inputs::new();
    let (stop, stopped) = mpsc::sync_channel::<()>(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                assert_eq!(layer(&inputs.x, &inputs.w), inputs.layer);
            }
        });
        for fork in 0..12 {
            let right = || (0..2).all(|_| layer(&inputs.x, &inputs.w) == inputs.layer);
            let mut status = -1;
            // SAFETY: the child exits by `_exit`, so it returns to no caller of the parent.
            unsafe {
                match libc::fork() {
                    0 => {
                        libc::alarm(ALARM);
                        libc::_exit(i32::from(!catch_unwind(AssertUnwindSafe(right)).unwrap_or(false)));
                    }
                    child => assert!(child > 0 && libc::waitpid(child, &mut status, 0) == child),
                }
            }
            assert_eq!(status, 0, "fork {fork}");
        }
        drop(stop);
    });
    assert_eq!(layer(&inputs.x, &inputs.w), inputs.layer);
}
