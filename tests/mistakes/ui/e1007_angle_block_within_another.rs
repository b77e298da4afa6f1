use mind::angle;

fn main() {
    let _ = angle!(mind!< |x: f32[2]| x + mind!< x > >);
}
