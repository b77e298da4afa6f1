//! Tests of files from NumPy and from the Python package `safetensors` (`data/make.py`), and of the reported
//! differences if they do not fit.

use std::path::PathBuf;

use mind_files::{Archive, Names, npy, npz, safetensors};
use mind_rt::{Const, Parameter, ParameterMut, Parameters, Tensor};

/// The contents of the archives.
#[derive(Debug, PartialEq)]
struct Arrays {
    w: Tensor![f32; 2, 3],
    columns: Tensor![f32; 2, 3],
    big: Tensor![f64; 2, 3],
    count: i64,
    ids: Tensor![i32; 2],
    mask: Tensor![bool; 3],
}

impl Arrays {
    fn expected() -> Self {
        let w = Tensor::from([[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]);
        Self {
            columns: w.clone(),
            big: w.map(f64::from),
            w,
            count: -7,
            ids: Tensor::from([1, -2]),
            mask: Tensor::from([true, false, true]),
        }
    }

    fn empty() -> Self {
        let (w, columns, big) = (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
        Self { w, columns, big, count: 0, ids: Tensor::zeros(), mask: Tensor::zeros() }
    }
}

impl Parameters for Arrays {
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
        visitor(Parameter::tensor("w", &self.w));
        visitor(Parameter::tensor("columns", &self.columns));
        visitor(Parameter::tensor("big", &self.big));
        visitor(Parameter::number("count", &self.count));
        visitor(Parameter::tensor("ids", &self.ids));
        visitor(Parameter::tensor("mask", &self.mask));
    }

    fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
        visitor(ParameterMut::tensor("w", &mut self.w));
        visitor(ParameterMut::tensor("columns", &mut self.columns));
        visitor(ParameterMut::tensor("big", &mut self.big));
        visitor(ParameterMut::number("count", &mut self.count));
        visitor(ParameterMut::tensor("ids", &mut self.ids));
        visitor(ParameterMut::tensor("mask", &mut self.mask));
    }
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn files_of_numpy_are_read() {
    let big = npy::read::<f64, (usize, usize)>(data("big.npy")).expect("it is whole");
    assert_eq!(big.as_slice(), Arrays::expected().big.as_slice());
    let columns = npy::read::<f32, (Const<2>, usize)>(data("columns.npy")).expect("it is whole");
    assert_eq!(columns.as_slice(), Arrays::expected().columns.as_slice());
    for archive in ["stored.npz", "deflated.npz"] {
        let mut found = Arrays::empty();
        npz::load(data(archive), &mut found).expect("it is whole");
        assert_eq!(found, Arrays::expected(), "{archive}");
    }
}

#[test]
fn files_of_safetensors_are_read() {
    let mut found = Arrays::empty();
    safetensors::load(data("arrays.safetensors"), &mut found).expect("it is whole");
    assert_eq!(found, Arrays::expected());
    let mut file = safetensors::File::open(data("arrays.safetensors")).expect("it is whole");
    assert_eq!(file.metadata()["steps"], "7");
    let ids = file.tensor::<i32, (usize,)>("ids").expect("it is there");
    assert_eq!(ids.as_slice(), [1, -2]);
    let told = |fault: mind_files::Fault| fault.to_string();
    assert_eq!(file.tensor::<i32, (usize,)>("id").map_err(told), Err("there is no array `id`".into()));
    let other = file.tensor::<i64, (Const<3>, usize)>("ids").map_err(told);
    assert_eq!(other, Err("the array is i32[2], needed i64[3, ?]".into()));
}

#[test]
fn what_is_written_is_read_and_equal_parameters_make_equal_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let (arrays, names) = (Arrays::expected(), || Names::by(|name| format!("all.{name}")));
    for name in ["first.npz", "second.npz"] {
        npz::save_as(path(name), &arrays, &names()).expect("it is written");
        let mut found = Arrays::empty();
        npz::load_as(path(name), &mut found, &names()).expect("it is whole");
        assert_eq!(found, arrays);
    }
    for name in ["first.safetensors", "second.safetensors"] {
        let metadata = [("b", "2"), ("a", "1")].map(|(key, text)| (key.to_owned(), text.to_owned())).into();
        safetensors::save_with(path(name), &arrays, &names(), &metadata).expect("it is written");
        let mut found = Arrays::empty();
        safetensors::load_as(path(name), &mut found, &names()).expect("it is whole");
        assert_eq!(found, arrays);
        assert_eq!(*safetensors::File::open(path(name)).expect("it is there").metadata(), metadata);
    }
    let bytes = |name: &str| std::fs::read(path(name)).expect("it is there");
    assert_eq!(bytes("first.npz"), bytes("second.npz"));
    assert_eq!(bytes("first.safetensors"), bytes("second.safetensors"));
    npy::write(path("w.npy"), &arrays.w).expect("it is written");
    assert_eq!(npy::read(path("w.npy")).expect("it is whole"), arrays.w);
    let left = std::fs::read_dir(folder.path()).expect("it is a folder").count();
    assert_eq!(left, 5, "nothing stays beside");
}

/// All differences are reported at once, and nothing is loaded.
#[test]
fn all_differences_are_told_and_nothing_is_loaded() {
    let mut layers: Vec<Tensor![f32; 3, 2]> = vec![Tensor::full(9.0), Tensor::full(9.0), Tensor::full(9.0)];
    let names = || Names::pairs([("w", "0"), ("ids", "1"), ("more", "there")]);
    let expected = "the arrays do not match the parameters, 8 differences:\n  \
        there is no parameter `there`, which the names map to `more`\n  \
        `w` is f32[2, 3], needed f32[3, 2], for `0`\n  \
        `ids` is i32[2], needed f32[3, 2], for `1`\n  \
        `2` f32[3, 2] is missing\n  \
        `big` f64[2, 3] is unexpected\n  \
        `columns` f32[2, 3] is unexpected\n  \
        `count` i64[] is unexpected\n  \
        `mask` bool[3] is unexpected";
    for error in [
        npz::load_as(data("stored.npz"), &mut layers, &names()),
        safetensors::load_as(data("arrays.safetensors"), &mut layers, &names()),
    ] {
        assert_eq!(error.expect_err("it does not fit").fault.to_string(), expected);
    }
    let names = Names::by(|_| "w".into()).allow_unexpected();
    let error = npz::load_as(data("stored.npz"), &mut layers, &names).expect_err("it does not fit");
    assert_eq!(
        error.fault.to_string(),
        "the arrays do not match the parameters, 5 differences:\n  \
         `w` is the name of both `0` and `1`\n  \
         `w` is the name of both `1` and `2`\n  \
         `w` is f32[2, 3], needed f32[3, 2], for `0`\n  \
         `w` is f32[2, 3], needed f32[3, 2], for `1`\n  \
         `w` is f32[2, 3], needed f32[3, 2], for `2`"
    );
    assert!(layers.iter().all(|layer| *layer == Tensor::full(9.0)));
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut x: Tensor![f32; 2] = Tensor::full(9.0);
    let none = folder.path().join("none");
    for error in [npz::load(&none, &mut x), safetensors::load(&none, &mut x)] {
        let error = error.expect_err("there is none").to_string();
        assert!(error.starts_with(&format!("{}: cannot read the file: ", none.display())), "{error}");
    }
    let error = npz::load(folder.path(), &mut x).expect_err("it is a folder").to_string();
    assert!(error.ends_with("cannot read the file: it is not a regular file"), "{error}");
    let nowhere = none.join("x");
    for error in [npz::save(&nowhere, &x), safetensors::save(&nowhere, &x), npy::write(&nowhere, &x)] {
        let error = error.expect_err("there is no folder").to_string();
        assert!(error.starts_with(&format!("{}: cannot write the file: ", nowhere.display())), "{error}");
    }
    let error = safetensors::save_as(&none, &x, &Names::by(|_| "__metadata__".into()));
    assert!(error.is_err());
    assert!(!none.exists());
}

#[test]
fn bytes_come_back_from_every_format() {
    #[derive(Debug, PartialEq)]
    struct Image(Tensor![u8; 2, 3]);

    impl Parameters for Image {
        fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
            visitor(Parameter::tensor("x", &self.0));
        }

        fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
            visitor(ParameterMut::tensor("x", &mut self.0));
        }
    }

    let given = Image(Tensor::from([[0, 1, 127], [128, 200, 255]]));
    let folder = tempfile::tempdir().expect("a folder");
    let [tensors, archive, array] = ["x.safetensors", "x.npz", "x.npy"].map(|file| folder.path().join(file));
    let mut read = Image(Tensor::zeros());
    safetensors::save(&tensors, &given).expect("it is written");
    safetensors::load(&tensors, &mut read).expect("it is read");
    assert_eq!(read, given);
    let mut read = Image(Tensor::zeros());
    npz::save(&archive, &given).expect("it is written");
    npz::load(&archive, &mut read).expect("it is read");
    assert_eq!(read, given);
    npy::write(&array, &given.0).expect("it is written");
    assert!(std::fs::read(&array).expect("it is there").windows(3).any(|descriptor| descriptor == b"|u1"));
    let read: Tensor![u8; 2, 3] = npy::read(&array).expect("it is read");
    assert_eq!(read, given.0);
}
