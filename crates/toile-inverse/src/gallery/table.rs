//! The garments of the published table.

use toile_sim::ShellMaterial;

use super::{Skirt, beret, bitriangle, book_page, tablecloth};
use crate::{Garment, InverseError};

/// A scene of the table of Ly 2021 (chapter 5), with the time published there.
pub struct Piece {
    /// Its name there.
    pub name: &'static str,
    /// Published time \[min\], if one was.
    pub minutes: Option<f64>,
    /// Ours, of about that size and of that material.
    pub garment: Garment,
}

/// The garments of the table: its materials, frictions, vertex and contact numbers on shapes of ours.
///
/// Most are tubes that lie on a body with some rows and stand or hang freely with the others. The tablecloth is ours.
pub fn table() -> Result<Vec<Piece>, InverseError> {
    let piece = |name, minutes, skirt: Skirt, [density, k_length, k_bend, friction]: [f64; 4]| {
        let material = ShellMaterial::DiscreteShells { k_length, k_area: 0.0, k_bend };
        Ok(Piece {
            name,
            minutes: Some(minutes),
            garment: skirt.garment(material, density, friction)?,
        })
    };
    let tube = |rows, around, band, waist, hem, height, waves, amplitude| Skirt {
        rows,
        around,
        band,
        waist,
        hem,
        height,
        waves,
        amplitude,
    };
    let other = |name, minutes, garment: Result<Garment, InverseError>| {
        Ok(Piece { name, minutes, garment: garment? })
    };
    let felt = ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 0.0, k_bend: 5e-3 };
    [
        other("Bitriangle", None, bitriangle()),
        piece(
            "Synthetic Skirt",
            4.0,
            tube(10, 20, 1, 0.05, 0.16, 0.2, 5, 0.01),
            [0.1, 3.0, 5e-3, 0.6],
        ),
        piece(
            "Puff Sleeve",
            14.0,
            tube(12, 34, 2, 0.05, 0.07, 0.12, 8, 0.004),
            [1.0, 0.1, 1e-3, 0.7],
        ),
        other("Book Page", Some(187.0), book_page()),
        other("Beret", Some(97.0), beret()),
        other("Tablecloth", None, tablecloth(felt, 0.25)),
        piece("Floppy Hat", 50.0, tube(20, 44, 4, 0.09, 0.17, 0.1, 4, 0.01), [2.5, 5.0, 5e-4, 0.6]),
        piece("Top", 382.0, tube(23, 39, 3, 0.15, 0.2, 0.3, 6, 0.01), [0.5, 0.2, 1e-1, 0.2]),
        piece(
            "Gored Skirt",
            427.0,
            tube(30, 42, 4, 0.2, 0.5, 0.7, 8, 0.05),
            [0.05, 0.8, 5e-3, 0.7],
        ),
        piece("Saroual", 950.0, tube(41, 61, 1, 0.18, 0.35, 0.8, 6, 0.03), [0.05, 1.0, 1e-2, 0.2]),
        piece(
            "ClothCap Shirt",
            750.0,
            tube(51, 50, 19, 0.18, 0.24, 0.6, 5, 0.01),
            [1.0, 3.0, 5e-4, 0.2],
        ),
    ]
    .into_iter()
    .collect()
}
