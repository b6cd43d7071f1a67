//! A clamped rod: what it is made of, its unknowns, and the curve they describe.

use nalgebra::DMatrix;

use crate::RodError;
use crate::element::{Arc, Model, Node};
use crate::panel::RULE;
use crate::rotation::{Mat3, Vec3, cross_matrix};

/// Most elements of a rod.
const MOST_ELEMENTS: usize = 1_000_000;

/// Stiffness and mass of a rod's cross-section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// EI about d₁ and d₂ \[N·m²\].
    pub bending_stiffness: [f64; 2],
    /// GJ \[N·m²\].
    pub twisting_stiffness: f64,
    /// ρA \[kg/m\].
    pub linear_density: f64,
}

impl Section {
    /// (EI₁, EI₂, GJ).
    pub fn stiffness(&self) -> Vec3 {
        Vec3::new(self.bending_stiffness[0], self.bending_stiffness[1], self.twisting_stiffness)
    }

    /// An ellipse with semi-axes a along d₁ and b along d₂ \[m\], of moduli E and G \[Pa\] and density ρ \[kg/m³\].
    pub fn ellipse(a: f64, b: f64, young: f64, shear: f64, density: f64) -> Self {
        let pi = std::f64::consts::PI;
        Self {
            bending_stiffness: [young * pi * a * b.powi(3) / 4.0, young * pi * a.powi(3) * b / 4.0],
            twisting_stiffness: shear * pi * (a * b).powi(3) / (a * a + b * b),
            linear_density: density * pi * a * b,
        }
    }
}

/// Where a rod is held: position \[m\] and frame with columns d₁, d₂, d₃ (tangent).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// r(0) \[m\].
    pub position: Vec3,
    /// R(0).
    pub frame: Mat3,
}

/// Dead loads: they keep their direction however the rod moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loads {
    /// Force per length \[N/m\].
    pub per_length: Vec3,
    /// Force at the free end \[N\].
    pub tip: Vec3,
}

impl Loads {
    /// The weight of a rod.
    pub fn weight(section: &Section, gravity: Vec3) -> Self {
        Self { per_length: gravity * section.linear_density, tip: Vec3::zeros() }
    }

    /// The same load, `factor` times as large.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { per_length: self.per_length * factor, tip: self.tip * factor }
    }
}

/// Natural curvatures (k₁, k₂, twist): polynomials in arclength plus a table between whose rows they are linear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaturalCurvature {
    /// Coefficients of k₁, k₂ and twist, lowest degree first \[1/m, 1/m², …\].
    pub coefficients: [Vec<f64>; 3],
    /// Arclengths \[m\], increasing, and the curvatures there \[1/m\]; empty for none.
    pub table: Vec<(f64, Vec3)>,
}

impl NaturalCurvature {
    /// Polynomials only.
    pub fn polynomials(coefficients: [Vec<f64>; 3]) -> Self {
        Self { coefficients, table: Vec::new() }
    }

    /// A table only.
    pub fn tabulated(table: Vec<(f64, Vec3)>) -> Self {
        Self { coefficients: Default::default(), table }
    }

    /// The same curvature everywhere.
    pub fn uniform(k: Vec3) -> Self {
        Self::polynomials([vec![k[0]], vec![k[1]], vec![k[2]]])
    }

    /// κ̄(s); beyond the ends of the table its last row holds.
    pub fn at(&self, s: f64) -> Vec3 {
        let horner = |c: &Vec<f64>| c.iter().rev().fold(0.0, |sum, c| sum * s + c);
        let mut k = Vec3::from_fn(|i, _| horner(&self.coefficients[i]));
        if !self.table.is_empty() {
            let after = self.table.partition_point(|row| row.0 <= s);
            let last = self.table.len() - 1;
            let (a, b) = (self.table[after.saturating_sub(1)], self.table[after.min(last)]);
            let t = if b.0 > a.0 { ((s - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { 0.0 };
            k += a.1 + (b.1 - a.1) * t;
        }
        k
    }

    fn is_finite(&self) -> bool {
        let rows = self.table.iter().all(|(s, k)| s.is_finite() && k.iter().all(|x| x.is_finite()));
        rows && self.coefficients.iter().flatten().all(|c| c.is_finite())
    }
}

/// An inextensible rod without shear, clamped at s = 0 and free at its end.
///
/// The unknowns are curvatures, one block (κ₁, κ₂, κ₃) per element (super-helix) or per joint (super-clothoid), in material
/// axes; κ₃ is the twist. R = (d₁, d₂, d₃), R′ = R \[κ\]×, r′ = d₃.
#[derive(Clone, Debug, PartialEq)]
pub struct Rod {
    model: Model,
    lengths: Vec<f64>,
    length: f64,
    section: Section,
    clamp: Clamp,
    /// ∫ h K κ̄ per block: the only way natural curvature enters the forces.
    rest_moment: Vec<Vec3>,
    /// ½ ∫ κ̄ᵀ K κ̄ \[J\].
    rest_energy: f64,
    planar: bool,
}

impl Rod {
    /// A straight-natured rod of equal elements.
    pub fn new(
        model: Model,
        elements: usize,
        length: f64,
        section: Section,
        clamp: Clamp,
    ) -> Result<Self, RodError> {
        if elements == 0 || elements > MOST_ELEMENTS {
            return Err(RodError::Elements { elements, most: MOST_ELEMENTS });
        }
        let lengths = vec![length / elements as f64; elements];
        let rod = Self::with_lengths(model, lengths, section, clamp)?;
        // Not the sum of the parts, which is rounded.
        Ok(Self { length, ..rod })
    }

    /// A straight-natured rod of elements of the given lengths \[m\].
    pub fn with_lengths(
        model: Model,
        lengths: Vec<f64>,
        section: Section,
        clamp: Clamp,
    ) -> Result<Self, RodError> {
        let positive = |what, value: f64| {
            if value.is_nan() || value.is_infinite() {
                Err(RodError::NotFinite { what })
            } else if value <= 0.0 {
                Err(RodError::NotPositive { what, value })
            } else {
                Ok(())
            }
        };
        let elements = lengths.len();
        if elements == 0 || elements > MOST_ELEMENTS {
            return Err(RodError::Elements { elements, most: MOST_ELEMENTS });
        }
        for &length in &lengths {
            positive("length", length)?;
        }
        positive("bending stiffness", section.bending_stiffness[0])?;
        positive("bending stiffness", section.bending_stiffness[1])?;
        positive("twisting stiffness", section.twisting_stiffness)?;
        positive("linear density", section.linear_density)?;
        if !clamp.position.iter().chain(clamp.frame.iter()).all(|x| x.is_finite()) {
            return Err(RodError::NotFinite { what: "clamp" });
        }
        let by = (clamp.frame.transpose() * clamp.frame - Mat3::identity()).norm();
        if by > 1e-6 || clamp.frame.determinant() < 0.0 {
            return Err(RodError::Frame { by: by.max((clamp.frame.determinant() - 1.0).abs()) });
        }
        let length = lengths.iter().sum();
        let mut rod = Self {
            model,
            lengths,
            length,
            section,
            clamp,
            rest_moment: vec![],
            rest_energy: 0.0,
            planar: false,
        };
        rod.clamp.frame = crate::rotation::straightened(&rod.clamp.frame);
        rod.rest_moment = vec![Vec3::zeros(); rod.blocks()];
        Ok(rod)
    }

    /// The same rod with a natural curvature, integrated against the shape functions.
    pub fn with_natural_curvature(mut self, natural: &NaturalCurvature) -> Result<Self, RodError> {
        if !natural.is_finite() {
            return Err(RodError::NotFinite { what: "natural curvature" });
        }
        self.set_rest(|s| natural.at(s));
        Ok(self)
    }

    fn set_rest(&mut self, natural: impl Fn(f64) -> Vec3) {
        let k = self.section.stiffness();
        self.rest_moment.fill(Vec3::zeros());
        self.rest_energy = 0.0;
        let mut from = 0.0;
        for e in 0..self.lengths.len() {
            let l = self.lengths[e];
            let [left, right] = self.blocks_of(e);
            for (t, w) in RULE.at.iter().zip(&RULE.weight) {
                let bar = natural(from + t * l);
                let moment = k.component_mul(&bar) * (w * l);
                self.rest_energy += 0.5 * moment.dot(&bar);
                let [a, b] = self.model.shape(*t);
                if let Some(left) = left {
                    self.rest_moment[left] += moment * a;
                }
                if let Some(right) = right {
                    self.rest_moment[right] += moment * b;
                }
            }
            from += l;
        }
    }

    /// The same rod with natural curvatures in its own unknowns.
    pub fn with_rest(mut self, q_bar: &[Vec3]) -> Result<Self, RodError> {
        self.check_blocks(q_bar)?;
        self.rest_moment = self.elastic(q_bar);
        self.rest_energy =
            0.5 * self.rest_moment.iter().zip(q_bar).map(|(m, q)| m.dot(q)).sum::<f64>();
        Ok(self)
    }

    /// The natural curvatures in the rod's own unknowns: K q̄ = ∫ h K κ̄.
    pub fn rest(&self) -> Vec<Vec3> {
        self.solve_elastic(&self.rest_moment)
    }

    pub(crate) fn check_blocks(&self, q: &[Vec3]) -> Result<(), RodError> {
        if q.len() != self.blocks() {
            let what = "curvature vectors";
            return Err(RodError::Count { what, found: q.len(), expected: self.blocks() });
        }
        if !q.iter().all(|k| k.iter().all(|x| x.is_finite())) {
            return Err(RodError::NotFinite { what: "curvature" });
        }
        Ok(())
    }

    /// How the curvature varies along an element.
    pub fn model(&self) -> Model {
        self.model
    }
    /// Lengths of the elements \[m\].
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }
    /// Length of the rod \[m\].
    pub fn length(&self) -> f64 {
        self.length
    }
    /// Stiffness and mass.
    pub fn section(&self) -> &Section {
        &self.section
    }
    /// The same rod kept in the plane of d₂ and d₃ (or free of it): it bends about d₁ only, and stability counts motions in that
    /// plane. Loads and natural curvature must lie in it; what acts across is ignored.
    pub fn with_planar(self, planar: bool) -> Self {
        Self { planar, ..self }
    }
    /// Whether it is kept in a plane.
    pub fn is_planar(&self) -> bool {
        self.planar
    }
    pub(crate) fn kind(&self) -> (Model, bool) {
        (self.model, self.planar)
    }
    /// Where it is held.
    pub fn clamp(&self) -> &Clamp {
        &self.clamp
    }
    /// Holds it elsewhere.
    pub fn set_clamp(&mut self, clamp: Clamp) {
        self.clamp = clamp;
    }
    /// Number of unknown vectors.
    pub fn blocks(&self) -> usize {
        match self.model {
            Model::SuperHelix => self.lengths.len(),
            Model::SuperClothoid => self.lengths.len() + 1,
        }
    }
    pub(crate) fn rest_moment(&self) -> &[Vec3] {
        &self.rest_moment
    }
    pub(crate) fn rest_energy(&self) -> f64 {
        self.rest_energy
    }

    /// Blocks of an element's curvatures at start (if it is an unknown) and end.
    pub(crate) fn blocks_of(&self, element: usize) -> [Option<usize>; 2] {
        match self.model {
            Model::SuperHelix => [None, Some(element)],
            Model::SuperClothoid => [Some(element), Some(element + 1)],
        }
    }

    pub(crate) fn arc(&self, q: &[Vec3], element: usize) -> Arc {
        let [left, right] = self.blocks_of(element);
        Arc {
            model: self.model,
            length: self.lengths[element],
            start: left.map_or(Vec3::zeros(), |b| q[b]),
            end: right.map_or(Vec3::zeros(), |b| q[b]),
        }
    }

    /// K q, with K the elastic stiffness: block-diagonal or block-tridiagonal.
    pub fn elastic(&self, q: &[Vec3]) -> Vec<Vec3> {
        let k = self.section.stiffness();
        let gram = self.model.gram();
        let mut out = vec![Vec3::zeros(); self.blocks()];
        for (e, l) in self.lengths.iter().enumerate() {
            let blocks = self.blocks_of(e);
            for (i, row) in blocks.iter().enumerate() {
                for (j, column) in blocks.iter().enumerate() {
                    if let (Some(row), Some(column)) = (row, column) {
                        out[*row] += k.component_mul(&q[*column]) * (gram[i][j] * l);
                    }
                }
            }
        }
        out
    }

    /// K⁻¹ f, in linear time.
    pub fn solve_elastic(&self, f: &[Vec3]) -> Vec<Vec3> {
        let k = self.section.stiffness();
        let n = self.lengths.len();
        let mut out: Vec<Vec3> = f.iter().map(|f| f.component_div(&k)).collect();
        match self.model {
            Model::SuperHelix => {
                for (x, l) in out.iter_mut().zip(&self.lengths) {
                    *x /= *l;
                }
            }
            Model::SuperClothoid => {
                // Tridiagonal with dominant diagonal (ℓ₋ + ℓ₊)/3 and neighbours ℓ/6.
                let mut pivot = vec![0.0; n + 1];
                let diagonal = |i: usize| {
                    let before = if i > 0 { self.lengths[i - 1] } else { 0.0 };
                    (before + self.lengths.get(i).copied().unwrap_or(0.0)) / 3.0
                };
                pivot[0] = diagonal(0);
                for i in 1..=n {
                    let off = self.lengths[i - 1] / 6.0;
                    let ratio = off / pivot[i - 1];
                    pivot[i] = diagonal(i) - ratio * off;
                    let before = out[i - 1];
                    out[i] -= before * ratio;
                }
                out[n] /= pivot[n];
                for i in (0..n).rev() {
                    let after = out[i + 1];
                    out[i] = (out[i] - after * (self.lengths[i] / 6.0)) / pivot[i];
                }
            }
        }
        out
    }

    /// Element that holds the arclength s, and s from its start.
    fn locate(&self, s: f64) -> (usize, f64) {
        let mut left = s.clamp(0.0, self.length());
        for (e, &l) in self.lengths.iter().enumerate() {
            if left <= l || e + 1 == self.lengths.len() {
                return (e, left.min(l));
            }
            left -= l;
        }
        (0, 0.0)
    }

    /// Material curvature at s.
    pub fn curvature(&self, q: &[Vec3], s: f64) -> Vec3 {
        let (e, local) = self.locate(s);
        self.arc(q, e).curvature(local)
    }

    /// Positions and frames at increasing arclengths, in one walk along the rod.
    pub fn stations(&self, q: &[Vec3], at: &[f64]) -> Vec<Station> {
        let mut out = Vec::with_capacity(at.len());
        let (mut frame, mut r) = (self.clamp.frame, self.clamp.position);
        let (mut e, mut from) = (0, 0.0);
        for &s in at {
            while e + 1 < self.lengths.len() && s > from + self.lengths[e] {
                let (next, step) = self.arc(q, e).reach(&frame, self.lengths[e]);
                (frame, r) = (next, r + step);
                from += self.lengths[e];
                e += 1;
            }
            let local = (s - from).clamp(0.0, self.lengths[e]);
            let (here, step) = self.arc(q, e).reach(&frame, local);
            out.push(Station { s, position: r + step, frame: here });
        }
        out
    }

    /// `count` ≥ 2 stations at equal arclengths from clamp to tip.
    pub fn equal_stations(&self, q: &[Vec3], count: usize) -> Vec<Station> {
        let length = self.length();
        let last = count.max(2) - 1;
        let at: Vec<f64> = (0..=last).map(|i| length * i as f64 / last as f64).collect();
        self.stations(q, &at)
    }

    /// Frame and position of the first joint of an element and the samples up to s; derivatives of all blocks at s.
    ///
    /// Returns the position, ∂r/∂q (3 × 3 per block) and ∂θ/∂q.
    pub fn jacobian(&self, q: &[Vec3], s: f64) -> (Vec3, DMatrix<f64>, DMatrix<f64>) {
        let (last, local) = self.locate(s);
        let m = 3 * self.blocks();
        let (mut j, mut theta) = (DMatrix::zeros(3, m), DMatrix::zeros(3, m));
        let (mut frame, mut r) = (self.clamp.frame, self.clamp.position);
        for e in 0..=last {
            let upto = if e == last { local } else { self.lengths[e] };
            let end = self.arc(q, e).end(&frame, upto);
            // What came before moves on rigidly.
            let carried = cross_matrix(&end.r) * &theta;
            j -= carried;
            self.scatter(e, &end, &mut j, &mut theta);
            (frame, r) = (end.frame, r + end.r);
        }
        (r, j, theta)
    }

    fn scatter(&self, e: usize, end: &Node, j: &mut DMatrix<f64>, theta: &mut DMatrix<f64>) {
        for (side, block) in self.blocks_of(e).iter().enumerate() {
            let Some(block) = block else { continue };
            for c in 0..3 {
                let mut to = j.column_mut(3 * block + c);
                to += end.j.column(3 * side + c);
                let mut to = theta.column_mut(3 * block + c);
                to += end.theta.column(3 * side + c);
            }
        }
    }

    /// ∂²(f·r(s))/∂q² for a fixed vector f: second derivatives of the position at any arclength, symmetric.
    ///
    /// From ∂²r/∂κ(σ₁)∂κ(σ₂) = d(σ₁) × (d(σ₂) × (r(s) − r(σ₂))), σ₁ < σ₂.
    pub fn second_derivative(&self, q: &[Vec3], s: f64, f: &Vec3) -> DMatrix<f64> {
        let (last, local) = self.locate(s);
        let m = 3 * self.blocks();
        let tip = self.stations(q, &[s])[0].position;
        let mut out = DMatrix::zeros(m, m);
        let mut theta: DMatrix<f64> = DMatrix::zeros(3, m);
        let (mut frame, mut r) = (self.clamp.frame, self.clamp.position);
        for e in 0..=last {
            let upto = if e == last { local } else { self.lengths[e] };
            let blocks = self.blocks_of(e);
            let end = self.arc(q, e).sample(&frame, upto, |node| {
                // Rotation of the frame at σ by everything before it.
                let mut before = theta.clone();
                for (side, block) in blocks.iter().enumerate() {
                    let Some(block) = block else { continue };
                    for c in 0..3 {
                        let mut to = before.column_mut(3 * block + c);
                        to += node.theta.column(3 * side + c);
                    }
                }
                let arm = tip - (r + node.r);
                for (side, block) in blocks.iter().enumerate() {
                    let Some(block) = block else { continue };
                    for c in 0..3 {
                        let d: Vec3 = node.frame.column(c) * (node.shape[side] * node.weight);
                        let lever = d.cross(&arm).cross(f); // f·(θ × v) = θ·(v × f)
                        let row = before.tr_mul(&lever);
                        for i in 0..m {
                            out[(i, 3 * block + c)] += row[i];
                            out[(3 * block + c, i)] += row[i];
                        }
                    }
                }
            });
            let mut unused = DMatrix::zeros(3, m);
            self.scatter(e, &end, &mut unused, &mut theta);
            (frame, r) = (end.frame, r + end.r);
        }
        out
    }
}

/// A point of a rod with its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Arclength \[m\].
    pub s: f64,
    /// r(s) \[m\].
    pub position: Vec3,
    /// (d₁, d₂, d₃).
    pub frame: Mat3,
}
