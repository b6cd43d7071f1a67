//! What there is to see: layers of cloth or fibres, what they lie on, and the forces between.

use std::sync::Arc;

use crate::picture::{ColourMap, Point, bounds};

/// What a layer is made of.
#[derive(Clone, Debug)]
pub enum Form {
    /// Triangles between the positions.
    Surface(Arc<Vec<[u32; 3]>>),
    /// Polylines: first position of each, all of one radius \[m\].
    Strands {
        /// Where each begins.
        starts: Arc<Vec<u32>>,
        /// Half their width \[m\].
        radius: f64,
    },
}

/// A number at each vertex.
#[derive(Clone, Debug)]
pub struct Field {
    /// Short name, as in the files.
    pub name: &'static str,
    /// What it is, with its unit.
    pub label: &'static str,
    /// One value per position.
    pub values: Vec<f64>,
    /// Its colours.
    pub map: ColourMap,
}

impl Field {
    /// Least and greatest finite value; around zero for a map that balances.
    pub fn range(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return (0.0, 1.0);
        }
        match self.map {
            ColourMap::Amount if low >= 0.0 => (0.0, high),
            ColourMap::Amount => (low, high),
            ColourMap::Balance => {
                let most = low.abs().max(high.abs());
                (-most, most)
            }
        }
    }
}

/// One shape of the thing: the target, the rest shape, the equilibrium.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its name for people.
    pub name: String,
    /// What it is made of.
    pub form: Form,
    /// Where its vertices are \[m\], z up.
    pub positions: Vec<Point>,
    /// Numbers per vertex.
    pub fields: Vec<Field>,
}

/// A collider, or a part of one that has no end.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name for people.
    pub name: String,
    /// Its vertices \[m\], z up.
    pub positions: Vec<Point>,
    /// Its triangles.
    pub faces: Vec<[u32; 3]>,
}

/// A contact with its force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Where \[m\].
    pub point: Point,
    /// Unit normal, towards the thing that is held.
    pub normal: Point,
    /// Force on the thing that is held \[N\].
    pub force: Point,
    /// Coefficient of friction.
    pub friction: f64,
    /// Whether it slips.
    pub slips: bool,
}

impl Touch {
    /// Normal and tangential size of the force \[N\].
    pub fn parts(&self) -> [f64; 2] {
        let along: f64 = (0..3).map(|k| self.force[k] * self.normal[k]).sum();
        let across = (0..3).map(|k| (self.force[k] - along * self.normal[k]).powi(2)).sum::<f64>();
        [along, across.sqrt()]
    }

    /// ‖r_T‖/(μ r_N): the part of the friction that is used, at most 10.
    pub fn used(&self) -> f64 {
        let [along, across] = self.parts();
        if across == 0.0 {
            0.0
        } else if along <= 0.0 || self.friction <= 0.0 {
            10.0
        } else {
            (across / (self.friction * along)).min(10.0)
        }
    }
}

/// Everything to be shown of one result. The first layer is the one that matters.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Shapes of the thing.
    pub layers: Vec<Layer>,
    /// What it lies on.
    pub bodies: Vec<Body>,
    /// The contacts of the first layer.
    pub touches: Vec<Touch>,
}

impl Stage {
    /// Opposite corners of the box around all layers.
    pub fn bounds(&self) -> Option<[Point; 2]> {
        bounds(self.layers.iter().flat_map(|l| &l.positions))
    }

    /// Length by which a force of one newton is drawn: the largest becomes a fifth of the size of the first layer.
    pub fn metres_per_newton(&self) -> f64 {
        let most = self.touches.iter().map(|t| norm(t.force)).fold(0.0, f64::max);
        let size = self
            .layers
            .first()
            .and_then(|l| bounds(&l.positions))
            .map_or(1.0, |[a, b]| norm(std::array::from_fn(|k| b[k] - a[k])));
        if most > 0.0 { 0.2 * size / most } else { 0.0 }
    }
}

pub(crate) fn norm(p: Point) -> f64 {
    p.iter().map(|c| c * c).sum::<f64>().sqrt()
}
