//! Draws the attention weights as a PNG file.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{BLUE, Canvas, FAINT, GREY, INK, PAPER, blend};
use crate::sums::QUESTION;

/// Draws the attention weights over the positions of `text`: a row of squares per layer, with a square per head. In a
/// square, rows are the positions that attend and columns the positions they attend to. `weights` is
/// `[layers, heads, places, places]` in row-major order.
pub fn attention(path: &Path, text: &str, layers: usize, weights: &[f32]) -> io::Result<()> {
    let symbols: Vec<String> = text.chars().map(String::from).collect();
    let (places, cell, margin, head) = (symbols.len(), 18.0, 24.0, 54.0);
    let side = cell * places as f32;
    let heads = weights.len() / (layers * places * places);
    let corner = |layer: usize, head_number: usize| {
        let left = margin + 20.0 + (side + 44.0) * head_number as f32;
        (left, head + 44.0 + (side + 64.0) * layer as f32)
    };
    let (right, bottom) = corner(layers, heads);
    let mut canvas = Canvas::new((right - 44.0 + margin) as usize, (bottom - 64.0 + margin) as usize);
    let title = format!("What each place of {text} looks at: a row who looks, a column what at");
    canvas.text(margin, 18.0, &title, FontWeight::Bold, INK);

    for (layer, weights) in weights.chunks(heads * places * places).enumerate() {
        for (number, weights) in weights.chunks(places * places).enumerate() {
            let (left, top) = corner(layer, number);
            let name = format!("layer {}, head {}", layer + 1, number + 1);
            canvas.text_centred(left + side / 2.0, top - 40.0, &name, INK);
            canvas.rectangle(left - 1.0, top - 1.0, side + 2.0, side + 2.0, FAINT);
            for (place, symbol) in symbols.iter().enumerate() {
                let along = cell * place as f32;
                canvas.text_centred(left + along + cell / 2.0, top - 19.0, symbol, GREY);
                canvas.text_right(left - 6.0, top + along + 1.0, symbol, GREY);
            }
            for (at, weight) in weights.iter().enumerate() {
                let (row, column) = ((at / places) as f32, (at % places) as f32);
                let colour = blend(PAPER, BLUE, *weight);
                canvas.rectangle(left + cell * column, top + cell * row, cell, cell, colour);
            }
            // The rows below this line predict the answer.
            let answers = top + cell * (QUESTION - 1) as f32;
            canvas.line([left, answers], [left + side, answers], 1.0, GREY);
        }
    }
    canvas.save(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::written;

    #[test]
    fn a_picture_of_attention_has_a_square_for_each_head_that_is_dark_where_it_looks() {
        let text = "123+456=975";
        let drawn = |layers: usize, weight: f32| {
            let weights = vec![weight; layers * 4 * text.len() * text.len()];
            written("attention", |path| attention(path, text, layers, &weights))
        };
        let (wide, low, faint) = drawn(1, 0.0);
        let (same, high, dark) = drawn(2, 1.0);
        assert_eq!((wide, same), (992, 992));
        assert_eq!(high - low, 262);
        // Two of the three channels of blue are dark.
        let squares = 2 * 8 * (text.len() * 18).pow(2);
        assert!(faint < 20_000 && (squares - 20_000..squares + 20_000).contains(&dark), "{faint} {dark}");
    }
}
