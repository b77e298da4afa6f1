//! Programs of the fake plugin, and their executions.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use crate::abi::{self, Opaque};
use crate::objects::{
    BUFFERS, Buffer, Client, EXECUTABLES, Executable, LAUNCHES, LOG, MOST, RUNNING, arguments, destroyed, error, event,
    fails, made, misused_if, text,
};
use crate::processes::Refusal;
use crate::schedule::{Completion, Data, Entry, Meet, Wait, Work};

pub unsafe extern "C" fn compile(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::ClientCompile);
    if unsafe { fails(arguments.client, "compile") } {
        return error(3, "the text is not understood");
    }
    let code = unsafe { (*arguments.program).code };
    let code = unsafe { std::slice::from_raw_parts(code.bytes.cast::<u8>(), code.len) };
    let code = String::from_utf8_lossy(code);
    let main = code.lines().find(|line| line.contains("@main")).unwrap_or_default();
    let (before, behind) = main.split_once(" -> ").unwrap_or_default();
    let mut results: Vec<_> = (0..behind.matches("tensor<").count()).map(|at| (at, false)).collect();
    for (argument, said) in before.split("%arg").skip(1).enumerate() {
        if let Some((_, result)) = said.split_once("tf.aliasing_output = ") {
            let result: usize = result.split(' ').next().and_then(|result| result.parse().ok()).unwrap_or(0);
            results[result] = (argument, true);
        }
    }
    let executable = Executable { client: arguments.client, results, running: Arc::default() };
    arguments.executable = made(executable, &EXECUTABLES);
    null_mut()
}

const SERIALIZED: &str = "a fake program of ";

pub unsafe extern "C" fn serialize(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Serialize);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    if unsafe { fails(executable.client, "serialize") } {
        return error(12, "programs of these devices stay here");
    }
    let program: String =
        executable.results.iter().map(|(from, updates)| format!("{from} {},", u8::from(*updates))).collect();
    arguments.owner = made(format!("{SERIALIZED}{program}"), &EXECUTABLES);
    arguments.bytes = text(unsafe { &*arguments.owner.cast::<String>() });
    unsafe extern "C" fn delete(owner: Opaque) {
        unsafe { destroyed::<String>(owner, &EXECUTABLES) };
    }
    arguments.delete = Some(delete);
    null_mut()
}

pub unsafe extern "C" fn deserialize(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Deserialize);
    if unsafe { fails(arguments.client, "load") } {
        return error(9, "it was compiled for another device");
    }
    let bytes = unsafe { std::slice::from_raw_parts(arguments.bytes.bytes.cast::<u8>(), arguments.bytes.len) };
    let results = str::from_utf8(bytes).ok().and_then(|text| {
        let results = text.strip_prefix(SERIALIZED)?.split_terminator(',').map(|result| {
            let (from, updates) = result.split_once(' ')?;
            Some((from.parse().ok()?, updates == "1"))
        });
        results.collect::<Option<Vec<_>>>()
    });
    // Real plugins run what they load, so damaged bytes must not come here.
    misused_if(results.is_none());
    let Some(results) = results else { return error(15, "it is damaged") };
    let executable = Executable { client: arguments.client, results, running: Arc::default() };
    arguments.executable = made(executable, &EXECUTABLES);
    null_mut()
}

pub unsafe extern "C" fn program_memory(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::CompiledMemoryStats);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    if unsafe { fails(executable.client, "memory") } {
        return error(13, "nobody counted");
    }
    arguments.on_device = [1, 2, 3, 4, 5];
    arguments.on_host = [6; 5];
    arguments.peak = 7;
    null_mut()
}

pub unsafe extern "C" fn loaded_destroy(given: Opaque) -> Opaque {
    let executable = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*executable.cast::<Executable>()).running.load(SeqCst) } > 0);
    unsafe { destroyed::<Executable>(executable, &EXECUTABLES) }
}

pub unsafe extern "C" fn executable_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Executable>((*given.cast::<abi::Object>()).object, &EXECUTABLES) }
}

pub unsafe extern "C" fn executable_inner(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    let executable = unsafe { &*arguments.object.cast::<Executable>() };
    let Executable { client, results, running } = executable;
    let inner = Executable { client: *client, results: results.clone(), running: running.clone() };
    arguments.made = made(inner, &EXECUTABLES);
    null_mut()
}

pub unsafe extern "C" fn executable_outputs(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let executable = unsafe { &*arguments.object.cast::<Executable>() };
    let wrong = usize::from(unsafe { fails(executable.client, "results") });
    arguments.number = (executable.results.len() + wrong).to_ne_bytes();
    null_mut()
}

pub unsafe extern "C" fn execute(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Execute);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    let fails = |at| unsafe { fails(executable.client, at) };
    if fails("execute") {
        return error(13, "the program cannot be started");
    }
    let launch = unsafe { (*arguments.options).launch };
    misused_if(launch <= 0 || !LAUNCHES.lock().expect("no thread panics").insert(launch));
    let client = unsafe { &mut *executable.client.cast::<Client>() };
    let (after, is_scheduled_to_fail) = match client.schedule.pop_front() {
        Some(Entry::Full) => return error(8, "out of memory"),
        Some(Entry::Ends { after, fails }) => (after, fails),
        None => (Wait::For(Duration::ZERO), false),
    };
    let count = arguments.device_count;
    let ends = (0..count).map(|device| {
        let lost = fails("event") && device == 1 || is_scheduled_to_fail && device + 1 == count;
        (Arc::new(Completion::default()), lost.then_some("the device is lost"))
    });
    let ends: Vec<_> = ends.collect();
    let (mut all_arguments, mut results) = (Vec::new(), Vec::new());
    for (device, (end, _)) in ends.iter().enumerate() {
        let list =
            unsafe { std::slice::from_raw_parts(*arguments.arguments.add(device), arguments.argument_count) };
        all_arguments.extend(list.iter().map(|argument| unsafe { (*argument.cast::<Buffer>()).data.clone() }));
        for (result, (argument, updates)) in executable.results.iter().enumerate() {
            let argument = unsafe { &mut *list[*argument].cast::<Buffer>() };
            if argument.is_gone {
                return error(3, "a buffer is given that is gone");
            }
            argument.is_gone |= *updates;
            if fails("taken") && device > 0 {
                return error(13, "the program was stopped");
            }
            if fails("taken") {
                continue;
            }
            let size = argument.data.bytes.lock().expect("no thread panics").len();
            let data = Data::new(vec![0; size], end.clone());
            results.push((argument.data.clone(), data.clone(), *updates));
            let made = made(Buffer { client: executable.client, data, is_gone: false }, &BUFFERS);
            unsafe { *(*arguments.results.add(device)).add(result) = made };
        }
    }
    for (device, (end, _)) in ends.iter().enumerate() {
        unsafe { *arguments.events.add(device) = event(end.clone()) };
    }
    let before = std::mem::replace(&mut client.last, Arc::new(Completion::default()));
    MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
    let running = [client.running.clone(), executable.running.clone()];
    for running in &running {
        running.fetch_add(1, SeqCst);
    }
    let is_ready = matches!(after, Wait::For(Duration::ZERO))
        && before.is_done()
        && all_arguments.iter().all(|argument| argument.ready.is_done());
    let uncount = Box::new(move || {
        RUNNING.fetch_sub(1, SeqCst);
        for running in &running {
            running.fetch_sub(1, SeqCst);
        }
    });
    client.counts[0] += 1;
    let name = format!("run {}", client.counts[0]);
    let (log, arguments, end) = (&LOG, all_arguments, client.last.clone());
    let meet = client.processes.clone().map(|processes| -> Meet {
        let name = name.clone();
        Box::new(move || {
            match processes.exchange(&name, &launch.to_string()) {
                Ok(launches) => {
                    let same = launches.iter().all(|other| *other == launches[0]);
                    (!same).then_some("the processes run different programs")
                }
                Err(Refusal(_, text)) => Some(&*text.leak()),
            }
        })
    });
    let is_ready = is_ready && meet.is_none();
    let work = Work { name, log, before, after, arguments, results, meet, ends, end, uncount };
    if is_ready {
        work.run();
    } else {
        thread::spawn(move || work.run());
    }
    null_mut()
}
