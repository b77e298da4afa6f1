//! Any bytes are either read as an archive or a single array, or give one error and load nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_files::{Archive, Names, bytes, npy, npz};
use mind_rt::Tensor;

fuzz_target!(|data: &[u8]| {
    let names = Names::pairs([("w", "0"), ("columns", "1")]).allow_unexpected();
    let mut parameters: Vec<Tensor![f32; 2, 3]> = vec![Tensor::full(9.0), Tensor::full(9.0)];
    let before = bytes(&parameters);
    let loaded = npz::File::of_bytes(data).and_then(|mut file| file.load(&mut parameters, &names));
    if let Err(fault) = loaded {
        assert!(!fault.to_string().is_empty());
        assert_eq!(bytes(&parameters), before);
    }
    let mut rest = data;
    if let Ok(header) = npy::Header::read(&mut rest)
        && header.check(rest.len() as u64).is_ok()
        && let Some(length) = header.bytes()
    {
        // The check ensures that `rest` has at least this length.
        let mut elements = vec![0; length as usize];
        let read = header.elements(&mut rest, &mut elements);
        // All bytes are valid numbers, but not all are valid truth values.
        assert!(read.is_ok() || header.layout.dtype == "bool");
    }
});
