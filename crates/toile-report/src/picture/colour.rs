//! From numbers to colours.

/// Colour of contacts that stick, red, green and blue.
pub const STICK: [f64; 3] = [0.16, 0.55, 0.36];
/// Colour of contacts that slip.
pub const SLIP: [f64; 3] = [0.86, 0.36, 0.10];

/// A way from numbers to colours; even in brightness, readable without colour vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark violet over green to yellow: how much.
    Amount,
    /// Blue over pale grey to red: less or more than the middle.
    Balance,
}

impl ColourMap {
    /// Colours at equal distances; between them it is linear.
    pub fn stops(self) -> [[f64; 3]; 5] {
        match self {
            Self::Amount => [
                [0.25, 0.10, 0.40],
                [0.22, 0.35, 0.58],
                [0.14, 0.58, 0.56],
                [0.45, 0.80, 0.34],
                [0.98, 0.90, 0.20],
            ],
            Self::Balance => [
                [0.13, 0.29, 0.62],
                [0.45, 0.65, 0.83],
                [0.90, 0.90, 0.89],
                [0.91, 0.60, 0.48],
                [0.68, 0.13, 0.17],
            ],
        }
    }

    /// Colour at t from 0 to 1; beyond, that of the end. What is not a number is grey.
    pub fn at(self, t: f64) -> [f64; 3] {
        if t.is_nan() {
            return [0.5; 3];
        }
        let stops = self.stops();
        let at = t.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        let i = (at as usize).min(stops.len() - 2);
        let f = at - i as f64;
        std::array::from_fn(|k| stops[i][k] * (1.0 - f) + stops[i + 1][k] * f)
    }

    /// The map from left to right as a CSS background.
    pub fn css_gradient(self) -> String {
        let stops = self.stops().map(css);
        format!("linear-gradient(to right, {})", stops.join(", "))
    }
}

/// A colour in CSS.
pub(crate) fn css(colour: [f64; 3]) -> String {
    let [r, g, b] = colour.map(|c| (255.0 * c).round().clamp(0.0, 255.0) as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_pass_through_their_stops() {
        for map in [ColourMap::Amount, ColourMap::Balance] {
            for (i, stop) in map.stops().iter().enumerate() {
                assert_eq!(map.at(i as f64 / 4.0), *stop);
            }
            assert_eq!(map.at(-3.0), map.stops()[0]);
            assert_eq!(map.at(f64::INFINITY), map.stops()[4]);
        }
        assert_eq!(css([1.0, 0.5, 0.0]), "#ff8000");
    }
}
