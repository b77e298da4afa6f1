//! Tests that the file of digits is read, and that bad files are reported. Several examples read the file, but only
//! `digits` runs these tests.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::digits::{CLASSES, Fault, PIXELS, load, parse, unpack};

const FILE: &[u8] = include_bytes!("../data/digits.csv.gz");

/// Twelve lines of the digit 3, with `line` in place of the third.
fn table_with(line: &[u8]) -> Vec<u8> {
    let good = row(3);
    let mut lines = [good.as_bytes(); 12];
    lines[2] = line;
    lines.join(&b'\n')
}

fn row(label: usize) -> String {
    format!("{}{label}", "7,".repeat(PIXELS))
}

fn fault(table: &[u8]) -> String {
    parse(table).expect_err("the table is bad").to_string()
}

#[test]
fn the_shipped_file_holds_1797_digits_of_every_class() {
    let digits = parse(&unpack(FILE).expect("it unpacks")).expect("it parses");
    assert_eq!(digits.len(), 1797);
    for label in 0..CLASSES {
        let count = digits.iter().filter(|digit| digit.label == label).count();
        assert!((174..=183).contains(&count), "{count} digits are {label}");
    }
    assert!(digits.iter().flat_map(|digit| digit.pixels).all(|ink| (0.0..=1.0).contains(&ink)));
}

#[test]
fn pixels_are_scaled_to_1_and_line_ends_may_be_of_either_kind() {
    let mut table = row(4).replacen('7', "16", 1).into_bytes();
    table.extend(b"\r\n");
    table = table.repeat(10);
    let digits = parse(&table).expect("it parses");
    assert_eq!((digits.len(), digits[9].label), (10, 4));
    assert_eq!(digits[9].pixels[..2], [1.0, 7.0 / 16.0]);
}

#[test]
fn a_file_cut_short_is_an_error_that_says_where() {
    let whole = unpack(FILE).expect("it unpacks");
    for length in [0, 5, 11, 1000, FILE.len() / 2, FILE.len() - 9, FILE.len() - 1] {
        let Err(Fault::Truncated { offset, line }) = unpack(&FILE[..length]) else {
            panic!("{length} bytes are not reported as truncated");
        };
        assert!(offset <= whole.len());
        assert_eq!(line, 1 + whole[..offset].iter().filter(|byte| **byte == b'\n').count());
    }
    let message = unpack(&FILE[..FILE.len() / 2]).expect_err("half is missing").to_string();
    assert!(message.starts_with("the file is truncated: its data ends at byte offset "), "{message}");
}

#[test]
fn a_damaged_file_is_an_error_and_no_file_at_all_another() {
    let mut damaged = FILE.to_vec();
    damaged[FILE.len() / 2] ^= 0x55;
    assert!(matches!(unpack(&damaged), Err(Fault::Damaged { .. })));
    let message = unpack(b"0,1,2,3,4,5,6,7,8,9").expect_err("not gzip").to_string();
    assert_eq!(message, "the file is damaged at byte offset 0, in line 1: invalid gzip header");
    let message = load(Path::new("no/such.gz")).expect_err("not there").to_string();
    assert!(message.starts_with("no/such.gz: cannot read the file: "), "{message}");
}

#[test]
fn every_single_damaged_byte_is_an_answer_and_never_a_panic() {
    for position in (0..FILE.len()).step_by(97) {
        let mut damaged = FILE.to_vec();
        damaged[position] ^= 0x10;
        let _ = unpack(&damaged).and_then(|table| parse(&table));
    }
}

#[test]
fn bytes_that_are_not_text_are_named_with_offset_and_line() {
    let mut bad = row(3).into_bytes();
    bad[10] = 0xff;
    let message = fault(&table_with(&bad));
    let offset = 2 * (row(3).len() + 1) + 10;
    assert_eq!(
        message,
        format!("E1001: invalid UTF-8 at byte offset {offset}, in line 3: first bytes ff 2c 37 2c")
    );
    assert_eq!(fault(b"\xfe"), "E1001: invalid UTF-8 at byte offset 0, in line 1: first bytes fe");
}

#[test]
fn lines_with_too_few_or_too_many_numbers_are_named() {
    let start = 2 * (row(3).len() + 1);
    for (line, found) in [("1,2,3".to_owned(), 3), (String::new(), 0), (row(3) + ",1", 66)] {
        assert_eq!(
            fault(&table_with(line.as_bytes())),
            format!("line 3, at byte offset {start}: found {found} numbers, needed 64 pixels and a label")
        );
    }
}

#[test]
fn numbers_out_of_range_are_named() {
    let start = 2 * (row(3).len() + 1);
    for (field, max) in [("17", 16), ("-1", 16), ("", 16), ("x", 16), ("999", 16)] {
        let line = row(3).replacen('7', field, 1);
        assert_eq!(
            fault(&table_with(line.as_bytes())),
            format!(
                "E1005: line 3, at byte offset {start}: found `{field}`, needed an integer from 0 to {max}"
            )
        );
    }
    let offset = start + 2 * PIXELS;
    assert_eq!(
        fault(&table_with(row(12).as_bytes())),
        format!("E1005: line 3, at byte offset {offset}: found `12`, needed an integer from 0 to 9")
    );
}

#[test]
fn a_table_with_hardly_a_digit_is_an_error() {
    assert_eq!(fault(b""), "the table has 0 digits, needed at least 10");
    assert_eq!(fault(row(1).as_bytes()), "the table has 1 digits, needed at least 10");
}

#[test]
fn a_file_is_loaded_and_errors_name_it() {
    let path = std::env::temp_dir().join(format!("mind-digits-{}.csv.gz", std::process::id()));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&table_with(b"1,2")).expect("memory takes it");
    fs::write(&path, packer.finish().expect("memory takes it")).expect("a temporary file");
    let message = load(&path).expect_err("a line is bad").to_string();
    fs::remove_file(&path).expect("it is there");
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert!(message.contains(": line 3, at byte offset "), "{message}");
}
