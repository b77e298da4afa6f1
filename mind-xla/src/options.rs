//! The options of compilation: the message `CompileOptionsProto` of XLA's `compile_options.proto`.

use std::collections::BTreeMap;

/// The encoded message for a program that is split over the devices with these numbers. `flags` are XLA's options by
/// name.
pub fn compile_options(devices: &[i32], flags: &BTreeMap<String, String>) -> Vec<u8> {
    let count = devices.len() as u64;
    let is_split = u64::from(devices.len() > 1);
    let mut assignment = Vec::new();
    integer(&mut assignment, 1, 1);
    integer(&mut assignment, 2, count);
    for device in devices {
        let mut replicas = Vec::new();
        // The format sign-extends integers to 64 bits.
        integer(&mut replicas, 1, i64::from(*device).cast_unsigned());
        message(&mut assignment, 3, &replicas);
    }
    let mut build = Vec::new();
    integer(&mut build, 4, 1);
    integer(&mut build, 5, count);
    integer(&mut build, 6, is_split);
    message(&mut build, 9, &assignment);
    // The text describes splits in the dialect of Shardy.
    integer(&mut build, 19, is_split);
    let mut options = Vec::new();
    message(&mut options, 3, &build);
    for (name, value) in flags {
        let (mut text, mut entry) = (Vec::new(), Vec::new());
        message(&mut text, 1, value.as_bytes());
        message(&mut entry, 1, name.as_bytes());
        message(&mut entry, 2, &text);
        message(&mut options, 7, &entry);
    }
    options
}

fn integer(to: &mut Vec<u8>, field: u64, value: u64) {
    varint(to, field << 3);
    varint(to, value);
}

fn message(to: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(to, field << 3 | 2);
    varint(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Appends an integer in groups of seven bits, one per byte, lowest group first.
fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    to.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected bytes are the output of `protoc --encode`.
    #[test]
    fn one_device_is_not_split() {
        let expected =
            [0x1a, 19, 0x20, 1, 0x28, 1, 0x30, 0, 0x4a, 8, 8, 1, 0x10, 1, 0x1a, 2, 8, 0, 0x98, 1, 0];
        assert_eq!(compile_options(&[0], &BTreeMap::new()), expected);
        // The end of the message that JAX writes for this option.
        let flags = [("xla_gpu_autotune_level".to_owned(), "0".to_owned())].into();
        let options = compile_options(&[0], &flags);
        let entry =
            [&[0x3a, 29, 0x0a, 22][..], b"xla_gpu_autotune_level", &[0x12, 3, 0x0a, 1, b'0']].concat();
        assert_eq!(options, [&expected[..], &entry].concat());
    }

    #[test]
    fn large_numbers_take_several_bytes() {
        let mut bytes = Vec::new();
        varint(&mut bytes, 300);
        assert_eq!(bytes, [0xac, 2]);
    }
}
