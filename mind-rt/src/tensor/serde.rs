//! Serialisation of tensors by serde.
//!
//! The format is ndarray's format of an array, `{"v": 1, "dim": [2, 3], "data": […]}`, so that each library reads the
//! output of the other. The input is not trusted. A shape that comes before the elements is checked before elements are
//! read. Memory grows with the elements that have been read, never with a promised length.

use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{SerializeStruct, SerializeTuple, Serializer};
use serde_core::{Deserialize, Serialize, de};

use crate::element::Element;
use crate::error::{Error, describe};
use crate::shape::{Dims, MAX_RANK, Shape};
use crate::tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};

/// The version of the format, as ndarray writes it.
const VERSION: u8 = 1;
const NAME: &str = "Array";
const FIELDS: &[&str] = &["v", "dim", "data"];

/// The largest number of elements for which memory is allocated before one has been read.
const FIRST_ROOM: usize = 4096;

impl<T: Element + Serialize, S: Shape> Serialize for TensorRef<T, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut fields = serializer.serialize_struct(NAME, FIELDS.len())?;
        fields.serialize_field(FIELDS[0], &VERSION)?;
        fields.serialize_field(FIELDS[1], &Extents(self.shape().dims()))?;
        fields.serialize_field(FIELDS[2], self.as_slice())?;
        fields.end()
    }
}

/// ```
/// use mind_rt::Tensor;
///
/// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let text = serde_json::to_string(&x)?;
/// assert_eq!(text, r#"{"v":1,"dim":[2,2],"data":[1.0,2.0,3.0,4.0]}"#);
/// let read: Tensor![f32; ?, 2] = serde_json::from_str(&text)?;
/// assert_eq!(read.as_slice(), x.as_slice());
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<T: Element + Serialize, S: Shape> Serialize for Tensor<T, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        (**self).serialize(serializer)
    }
}

impl<T: Element + Serialize, S: Shape> Serialize for TensorView<'_, T, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        (**self).serialize(serializer)
    }
}

impl<T: Element + Serialize, S: Shape> Serialize for TensorViewMut<'_, T, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        (**self).serialize(serializer)
    }
}

/// Extents as a tuple, since the type of a tensor determines their number.
struct Extents(Dims);

impl Serialize for Extents {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        self.0.iter().try_for_each(|extent| tuple.serialize_element(extent))?;
        tuple.end()
    }
}

/// A static extent that differs from the data is an error (E6009). A number of elements that is not the shape's is an
/// error too (E3007).
///
/// ```
/// use mind_rt::Tensor;
///
/// let text = r#"{"v": 1, "dim": [2, 3], "data": [1, 2, 3, 4]}"#;
/// let error = serde_json::from_str::<Tensor![i32; ?, 3]>(text).unwrap_err();
/// assert!(error.to_string().starts_with("E3007: i32[2, 3] has 6 elements, got 4"));
/// let error = serde_json::from_str::<Tensor![i32; ?, 2]>(text).unwrap_err();
/// assert!(error.to_string().starts_with("E6009: dimension 1 differs: got i32[2, 3], needed i32[?, 2]"));
/// ```
impl<'de, T: Element + Deserialize<'de>, S: Shape> Deserialize<'de> for Tensor<T, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(NAME, FIELDS, Whole(PhantomData))
    }
}

/// Deserialises a tensor.
struct Whole<T, S>(PhantomData<(T, S)>);

impl<'de, T: Element + Deserialize<'de>, S: Shape> Visitor<'de> for Whole<T, S> {
    type Value = Tensor<T, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tensor: the fields `v`, `dim` and `data`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Tensor<T, S>, A::Error> {
        let missing = |at| A::Error::invalid_length(at, &self);
        check_version(fields.next_element()?.ok_or_else(|| missing(0))?)?;
        let shape = fields.next_element_seed(ShapeSeed::<T, S>(PhantomData))?.ok_or_else(|| missing(1))?;
        let data = fields.next_element_seed(Data { shape: Some(shape), element: PhantomData })?;
        tensor(shape, data.ok_or_else(|| missing(2))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tensor<T, S>, A::Error> {
        let (mut version, mut shape, mut data) = (None, None, None);
        while let Some(field) = fields.next_key::<Field>()? {
            match field {
                Field::Version => once(&mut version, FIELDS[0], fields.next_value()?)?,
                Field::Dim => {
                    once(&mut shape, FIELDS[1], fields.next_value_seed(ShapeSeed::<T, S>(PhantomData))?)?
                }
                Field::Data => {
                    once(
                        &mut data,
                        FIELDS[2],
                        fields.next_value_seed(Data { shape, element: PhantomData })?,
                    )?;
                }
                Field::Other => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        check_version(version.ok_or_else(|| A::Error::missing_field(FIELDS[0]))?)?;
        let shape = shape.ok_or_else(|| A::Error::missing_field(FIELDS[1]))?;
        tensor(shape, data.ok_or_else(|| A::Error::missing_field(FIELDS[2]))?)
    }
}

fn check_version<E: de::Error>(version: u8) -> Result<(), E> {
    if version == VERSION {
        return Ok(());
    }
    Err(E::custom(format_args!("the version of the array is {version}, needed {VERSION}")))
}

fn once<V, E: de::Error>(field: &mut Option<V>, name: &'static str, value: V) -> Result<(), E> {
    if field.replace(value).is_some() {
        return Err(E::duplicate_field(name));
    }
    Ok(())
}

fn tensor<T: Element, S: Shape, E: de::Error>(shape: S, data: Vec<T>) -> Result<Tensor<T, S>, E> {
    Tensor::from_vec(shape, data).map_err(E::custom)
}

/// A field of a tensor.
enum Field {
    Version,
    Dim,
    Data,
    Other,
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the name of a field")
            }

            fn visit_u64<E: de::Error>(self, field: u64) -> Result<Field, E> {
                Ok(match field {
                    0 => Field::Version,
                    1 => Field::Dim,
                    2 => Field::Data,
                    _ => Field::Other,
                })
            }

            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Field, E> {
                Ok(match name {
                    b"v" => Field::Version,
                    b"dim" => Field::Dim,
                    b"data" => Field::Data,
                    _ => Field::Other,
                })
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Field, E> {
                self.visit_bytes(name.as_bytes())
            }
        }

        deserializer.deserialize_identifier(Name)
    }
}

/// Deserialises a shape.
struct ShapeSeed<T, S>(PhantomData<(T, S)>);

impl<'de, T: Element, S: Shape> DeserializeSeed<'de> for ShapeSeed<T, S> {
    type Value = S;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S, D::Error> {
        deserializer.deserialize_tuple(S::RANK, self)
    }
}

impl<'de, T: Element, S: Shape> Visitor<'de> for ShapeSeed<T, S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} extents", S::RANK)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<S, A::Error> {
        let (mut extents, mut rank) = ([0; MAX_RANK], 0);
        while let Some(extent) = list.next_element()? {
            if rank == S::RANK {
                return Err(A::Error::invalid_length(rank + 1, &self));
            }
            extents[rank] = extent;
            rank += 1;
        }
        if rank != S::RANK {
            return Err(A::Error::invalid_length(rank, &self));
        }
        let extents = &extents[..rank];
        let shape = S::from_extents(extents)
            .ok_or_else(|| A::Error::custom(Error::shape_mismatch::<T, S>(extents)))?;
        match shape.checked_len() {
            Some(_) => Ok(shape),
            None => Err(A::Error::custom(Error::allocation::<T, S>(shape))),
        }
    }
}

/// Deserialises the elements. `shape` is known if it came before them.
struct Data<T, S> {
    shape: Option<S>,
    element: PhantomData<T>,
}

impl<'de, T: Element + Deserialize<'de>, S: Shape> DeserializeSeed<'de> for Data<T, S> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Element + Deserialize<'de>, S: Shape> Visitor<'de> for Data<T, S> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let most = self.shape.map_or(usize::MAX, |shape| shape.len());
        let mut elements = Vec::with_capacity(list.size_hint().unwrap_or(0).min(most).min(FIRST_ROOM));
        while let Some(element) = list.next_element()? {
            if let Some(shape) = self.shape
                && elements.len() == most
            {
                let shape = describe(T::DTYPE, &shape.dims());
                return Err(A::Error::custom(format_args!("E3007: {shape} has {most} elements, got more")));
            }
            elements.push(element);
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use serde_core::de::value::{Error, F32Deserializer};
    use serde_core::de::{DeserializeSeed, IntoDeserializer, SeqAccess, Visitor};

    use super::Data;
    use crate::{Const, Tensor};

    type Matrix = Tensor<f32, (usize, Const<2>)>;

    fn error(text: &str) -> String {
        serde_json::from_str::<Matrix>(text).expect_err(text).to_string()
    }

    #[test]
    fn a_tensor_comes_back_as_it_was() {
        let x: Matrix = Tensor::from_fn_with((3, Const), |[i, j]| (2 * i + j) as f32 / 3.0);
        let text = serde_json::to_string(&x).expect("finite numbers");
        assert_eq!(serde_json::from_str::<Matrix>(&text).expect("written text is read"), x);
        assert_eq!(serde_json::to_string(&x.view()).expect("finite numbers"), text);
        let scalar: Tensor![bool;] = Tensor::from(true);
        let text = serde_json::to_string(&scalar).expect("a truth value");
        assert_eq!(text, r#"{"v":1,"dim":[],"data":[true]}"#);
        assert_eq!(serde_json::from_str::<Tensor![bool;]>(&text).expect("written text is read"), scalar);
        let none = Tensor::<i64, _>::zeros_with((0, 7));
        let text = serde_json::to_string(&none).expect("nothing");
        assert_eq!(serde_json::from_str::<Tensor![i64; ?, ?]>(&text).expect("written text is read"), none);
    }

    #[test]
    fn ndarray_reads_and_writes_the_same() {
        let array = ndarray::arr2(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let text = serde_json::to_string(&array).expect("finite numbers");
        let x: Matrix = serde_json::from_str(&text).expect("3 rows of 2");
        assert_eq!(serde_json::to_string(&x).expect("finite numbers"), text);
        assert_eq!(serde_json::from_str::<ndarray::Array2<f32>>(&text).expect("its own"), array);
    }

    #[test]
    fn a_length_that_is_promised_takes_no_memory() {
        /// A list that promises more elements than fit in memory, and is cut off.
        struct CutOff(usize);

        impl<'de> SeqAccess<'de> for CutOff {
            type Error = Error;

            fn next_element_seed<V: DeserializeSeed<'de>>(
                &mut self,
                seed: V,
            ) -> Result<Option<V::Value>, Error> {
                self.0 = self
                    .0
                    .checked_sub(1)
                    .ok_or_else(|| serde_core::de::Error::custom("the data is truncated"))?;
                let element: F32Deserializer<Error> = 1.0_f32.into_deserializer();
                seed.deserialize(element).map(Some)
            }

            fn size_hint(&self) -> Option<usize> {
                Some(usize::MAX)
            }
        }

        for shape in [None, Some((usize::MAX / 2, 1))] {
            let data = Data::<f32, (usize, usize)> { shape, element: PhantomData };
            assert_eq!(
                data.visit_seq(CutOff(3)).expect_err("it is cut off").to_string(),
                "the data is truncated"
            );
        }
    }

    #[test]
    fn fields_come_in_any_order_or_as_a_list() {
        for text in [
            r#"{"data": [1, 2], "dim": [1, 2], "v": 1}"#,
            r#"{"v": 1, "more": {"a": [1]}, "dim": [1, 2], "data": [1, 2]}"#,
            "[1, [1, 2], [1, 2]]",
        ] {
            assert_eq!(serde_json::from_str::<Matrix>(text).expect(text).as_slice(), [1.0, 2.0]);
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_before_there_is_memory() {
        for (text, expected) in [
            (r#"{"v": 1, "dim": [2, 2], "data": [1, 2, 3]}"#, "E3007: f32[2, 2] has 4 elements, got 3"),
            (r#"{"v": 1, "dim": [1, 2], "data": [1, 2, 3]}"#, "E3007: f32[1, 2] has 2 elements, got more"),
            (r#"{"data": [1, 2, 3], "v": 1, "dim": [1, 2]}"#, "E3007: f32[1, 2] has 2 elements, got 3"),
            (
                r#"{"v": 1, "dim": [2, 3], "data": []}"#,
                "E6009: dimension 1 differs: got f32[2, 3], needed f32[?, 2]",
            ),
            (r#"{"v": 1, "dim": [2], "data": [1, 2]}"#, "invalid length 1, expected 2 extents"),
            (r#"{"v": 1, "dim": [1, 2, 1], "data": [1, 2]}"#, "invalid length 3, expected 2 extents"),
            (
                r#"{"v": 1, "dim": [18446744073709551615, 2], "data": [1]}"#,
                "E6004: cannot allocate f32[18446744073709551615, 2]",
            ),
            (
                r#"{"v": 1, "dim": [4611686018427387904, 2], "data": [1]}"#,
                "E3007: f32[4611686018427387904, 2]",
            ),
            (r#"{"v": 1, "dim": [-1, 2], "data": []}"#, "invalid value: integer `-1`"),
            (r#"{"v": 2, "dim": [1, 2], "data": [1, 2]}"#, "the version of the array is 2, needed 1"),
            (r#"{"dim": [1, 2], "data": [1, 2]}"#, "missing field `v`"),
            (r#"{"v": 1, "data": [1, 2]}"#, "missing field `dim`"),
            (r#"{"v": 1, "dim": [1, 2]}"#, "missing field `data`"),
            (r#"{"v": 1, "dim": [1, 2], "dim": [1, 2], "data": [1, 2]}"#, "duplicate field `dim`"),
            (r#"{"v": 1, "dim": [1, 2], "data": [1, "a"]}"#, "invalid type: string \"a\""),
            (r#"{"v": 1, "dim": [1, 2], "data": [1, 2"#, "EOF"),
            ("[1, [1, 2]]", "invalid length 2, expected a tensor"),
            ("7", "invalid type: integer `7`, expected a tensor"),
        ] {
            assert!(error(text).starts_with(expected), "{text}: {}", error(text));
        }
    }
}
