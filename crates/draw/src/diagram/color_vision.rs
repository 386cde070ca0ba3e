//! How different two colours are for eyes that lack one kind of cones: what tests of palettes ask.
//!
//! The simulation is that of Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color
//! vision deficiency" (2009), at full severity; distances are those of OKLab (Ottosson 2020) times 100. About 2 is just
//! noticeable between large areas; lines and letters need more.

use super::theme::Color;

/// Smallest distance of two colours that mean different things.
const DISTINCT: f32 = 5.0;

type Matrix = [[f32; 3]; 3];

/// Linear RGB as seen with all cones, and without those for long, middle and short waves.
const VISION: [(&str, Matrix); 4] = [
    (
        "trichromat",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanope",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranope",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanope",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// From linear RGB to the responses of cones, and from their cube roots to OKLab.
const TO_CONES: Matrix = [
    [0.412_221_47, 0.536_332_54, 0.051_445_993],
    [0.211_903_5, 0.680_699_5, 0.107_396_96],
    [0.088_302_46, 0.281_718_84, 0.629_978_7],
];
const TO_LAB: Matrix = [
    [0.210_454_26, 0.793_617_8, -0.004_072_047],
    [1.977_998_5, -2.428_592_2, 0.450_593_7],
    [0.025_904_037, 0.782_771_77, -0.808_675_77],
];

fn times(matrix: &Matrix, v: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

fn seen(color: Color, vision: &Matrix) -> [f32; 3] {
    let linear =
        times(vision, [color.r, color.g, color.b].map(Color::linear)).map(|c| c.clamp(0.0, 1.0));
    times(&TO_LAB, times(&TO_CONES, linear).map(f32::cbrt))
}

fn distance(a: Color, b: Color, vision: &Matrix) -> f32 {
    let (a, b) = (seen(a, vision), seen(b, vision));
    100.0
        * a.iter()
            .zip(b)
            .map(|(a, b)| (a - b) * (a - b))
            .sum::<f32>()
            .sqrt()
}

/// The pairs of named colours that look alike to some eyes: which, to whom, and how far they are apart.
pub fn alike(
    colors: &[(&'static str, Color)],
) -> Vec<(&'static str, &'static str, &'static str, f32)> {
    let mut alike = Vec::new();
    for (place, (a, first)) in colors.iter().enumerate() {
        for (b, second) in &colors[place + 1..] {
            let far = VISION
                .iter()
                .map(|(who, vision)| (*a, *b, *who, distance(*first, *second, vision)));
            alike.extend(far.filter(|(.., distance)| *distance < DISTINCT));
        }
    }
    alike
}

/// Requires that these colours can be distinguished.
pub fn assert_distinct(palette: &str, colors: &[(&'static str, Color)]) {
    let alike = alike(colors);
    assert!(alike.is_empty(), "{palette}: {alike:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_looks_the_same_to_all_and_red_and_green_of_one_lightness_do_not() {
        let color = |r, g, b| Color { r, g, b };
        for (who, vision) in &VISION {
            let grey = distance(color(128, 128, 128), color(130, 130, 130), vision);
            assert!(grey < 1.0, "{who}: {grey}");
            assert!(
                (distance(color(0, 0, 0), color(255, 255, 255), vision) - 100.0).abs() < 1.0,
                "{who}"
            );
        }
        let pair = [("red", color(190, 80, 60)), ("green", color(110, 125, 50))];
        assert_eq!(
            alike(&pair)
                .iter()
                .map(|(.., who, _)| *who)
                .collect::<Vec<_>>(),
            ["deuteranope"]
        );
    }
}
