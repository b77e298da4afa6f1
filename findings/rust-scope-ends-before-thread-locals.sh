#!/usr/bin/env bash
# Rust 1.95.0: std::thread::scope returns while the thread-local values of its threads are still being dropped.
#
# The scope waits for the closures, not for the threads. Destructors of `thread_local!` values can run after it has
# returned, concurrently with the code that follows. A program that counts memory, handles or locks after a scope may
# therefore still count those that a destructor is about to release. `ScopedJoinHandle::join` waits for the whole
# thread, including destructors.
#
# It needs rustc. It fails if the output differs from the recorded one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/main.rs" <<'RUST'
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

static DROPPED: AtomicBool = AtomicBool::new(false);

struct Slow;

impl Drop for Slow {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(500));
        DROPPED.store(true, Ordering::SeqCst);
    }
}

thread_local! {
    static VALUE: Slow = const { Slow };
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| VALUE.with(|_| ()));
    });
    println!("dropped after the scope: {}", DROPPED.swap(false, Ordering::SeqCst));
    thread::sleep(Duration::from_millis(1000));
    DROPPED.store(false, Ordering::SeqCst);
    thread::scope(|scope| scope.spawn(|| VALUE.with(|_| ())).join().unwrap());
    println!("dropped after join: {}", DROPPED.load(Ordering::SeqCst));
}
RUST
rustup run 1.95.0 rustc --edition 2024 -o "$folder/main" "$folder/main.rs" 2>/dev/null || rustc --edition 2024 -o "$folder/main" "$folder/main.rs"
"$folder/main" | tee "$folder/found"
diff "$folder/found" - <<'EXPECTED'
dropped after the scope: false
dropped after join: true
EXPECTED
printf 'the output is as recorded\n'
