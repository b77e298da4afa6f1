//! Any bytes are either read as a safetensors file, or give one error and load nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mind_files::{Names, bytes, safetensors};
use mind_rt::Tensor;

fuzz_target!(|data: &[u8]| {
    let names = || Names::pairs([("w", "0"), ("columns", "1")]).allow_unexpected();
    let mut parameters: Vec<Tensor![f32; 2, 3]> = vec![Tensor::full(9.0), Tensor::full(9.0)];
    let before = bytes(&parameters);
    match safetensors::from_bytes(data, &mut parameters, &names()) {
        Ok(()) => {
            let again = safetensors::to_bytes(&parameters, &names()).expect("names differ");
            let mut loaded: Vec<Tensor![f32; 2, 3]> = vec![Tensor::full(9.0), Tensor::full(9.0)];
            safetensors::from_bytes(&again, &mut loaded, &names()).expect("written bytes are read");
            assert_eq!(bytes(&loaded), bytes(&parameters));
        }
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            assert_eq!(bytes(&parameters), before);
        }
    }
});
