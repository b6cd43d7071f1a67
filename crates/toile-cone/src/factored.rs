//! W = H M⁻¹ Hᵀ through a factorisation of M, never formed.

use toile_num::parallel::map;
use toile_num::{Matrix, Vector};

use crate::error::{ProblemError, check_finite, check_length};
use crate::operator::{Operator, ShiftedSolve, Sweep};
use crate::random::Random;
use crate::small::{block, set_block};

/// M⁻¹ of the bodies, by whatever factorisation the caller has.
pub trait MassInverse: Sync {
    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// x ← M⁻¹x.
    fn solve(&self, x: &mut [f64]);

    /// (M + weight·HᵀH)⁻¹ by another factorisation, for solvers that need W + ρ1 inverted; `None`
    /// when there is none. For contacts at vertices HᵀH does not widen the pattern of M.
    fn augmented<'a>(&'a self, gram: &Gram<'_>, weight: f64) -> Option<Box<dyn MassInverse + 'a>> {
        let _ = (gram, weight);
        None
    }
}

/// HᵀH, contact by contact.
pub struct Gram<'a> {
    visit: &'a Visit<'a>,
}

type Visit<'a> = dyn Fn(&mut dyn FnMut(usize, usize, f64)) + 'a;

impl Gram<'_> {
    /// Calls `add(row, column, value)` for every entry; those of one place are to be added.
    pub fn for_each(&self, mut add: impl FnMut(usize, usize, f64)) {
        (self.visit)(&mut add);
    }
}

/// H: for each contact the D-vectors that multiply each unknown it sees.
#[derive(Clone, Debug, Default)]
pub struct ContactRows<const D: usize> {
    unknowns: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    entries: Vec<Vector<D>>,
}

impl<const D: usize> ContactRows<D> {
    /// No contacts yet over that many unknowns.
    pub fn new(unknowns: usize) -> Self {
        ContactRows { unknowns, starts: vec![0], columns: Vec::new(), entries: Vec::new() }
    }

    /// Adds a contact: u = Σ entry · v\[unknown\].
    pub fn push(&mut self, row: &[(usize, Vector<D>)]) -> Result<(), ProblemError> {
        for (column, entry) in row {
            if *column >= self.unknowns {
                let (row, column) = (self.contacts(), *column);
                return Err(ProblemError::NoSuchColumn { row, column, columns: self.unknowns });
            }
            check_finite("a row of H", entry.as_slice())?;
        }
        self.columns.extend(row.iter().map(|(column, _)| *column as u32));
        self.entries.extend(row.iter().map(|(_, entry)| *entry));
        self.starts.push(self.columns.len());
        Ok(())
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// (H v)_i.
    fn row(&self, i: usize, v: &[f64]) -> Vector<D> {
        let mut sum = Vector::zeros();
        for k in self.starts[i]..self.starts[i + 1] {
            sum += self.entries[k] * v[self.columns[k] as usize];
        }
        sum
    }

    /// `out` = H v.
    pub fn product(&self, v: &[f64], out: &mut [f64]) {
        for i in 0..self.contacts() {
            set_block(out, i, &self.row(i, v));
        }
    }

    /// `out` = Hᵀ r.
    pub fn transposed_product(&self, r: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for i in 0..self.contacts() {
            let force = block::<D>(r, i);
            for k in self.starts[i]..self.starts[i + 1] {
                out[self.columns[k] as usize] += self.entries[k].dot(&force);
            }
        }
    }

    /// Entries of HᵀCH; C_i = 1 where there is no weight.
    fn gram<'a>(
        &self,
        weight: impl Fn(usize) -> Option<&'a Matrix<D, D>>,
        add: &mut dyn FnMut(usize, usize, f64),
    ) {
        for i in 0..self.contacts() {
            for p in self.starts[i]..self.starts[i + 1] {
                let left = weight(i).map_or(self.entries[p], |c| c * self.entries[p]);
                for q in self.starts[i]..self.starts[i + 1] {
                    let value = left.dot(&self.entries[q]);
                    add(self.columns[p] as usize, self.columns[q] as usize, value);
                }
            }
        }
    }
}

/// W applied as H (M⁻¹ (Hᵀ r)).
pub struct FactoredOperator<'a, const D: usize> {
    h: &'a ContactRows<D>,
    mass: &'a dyn MassInverse,
    diagonal: Vec<Matrix<D, D>>,
    /// M⁻¹H_iᵀ, D columns of a contact one after the other.
    columns: Option<Vec<Vec<f64>>>,
}

impl<'a, const D: usize> FactoredOperator<'a, D> {
    /// With products only: for projected gradient, Newton and ADMM. The diagonal blocks are estimated
    /// from a few products, enough to scale and precondition.
    pub fn new(h: &'a ContactRows<D>, mass: &'a dyn MassInverse) -> Result<Self, ProblemError> {
        check_length("M", mass.unknowns(), h.unknowns(), h.contacts(), D)?;
        let mut operator = FactoredOperator { h, mass, diagonal: Vec::new(), columns: None };
        operator.diagonal = operator.estimated_diagonal();
        Ok(operator)
    }

    /// With all columns M⁻¹H_iᵀ at hand (8 D bytes per contact and unknown), so that sweeps over
    /// single contacts are possible and the diagonal is exact.
    pub fn with_columns(
        h: &'a ContactRows<D>,
        mass: &'a dyn MassInverse,
    ) -> Result<Self, ProblemError> {
        check_length("M", mass.unknowns(), h.unknowns(), h.contacts(), D)?;
        let m = h.unknowns();
        let column = |i: usize| {
            let mut x = vec![0.0; D * m];
            for (d, part) in x.chunks_exact_mut(m).enumerate() {
                for k in h.starts[i]..h.starts[i + 1] {
                    part[h.columns[k] as usize] += h.entries[k][d];
                }
                mass.solve(part);
            }
            x
        };
        let columns: Vec<Vec<f64>> = map(h.contacts(), 1, column);
        let diagonal = columns
            .iter()
            .enumerate()
            .map(|(i, x)| {
                let mut w = Matrix::<D, D>::zeros();
                for (d, part) in x.chunks_exact(m).enumerate() {
                    w.set_column(d, &h.row(i, part));
                }
                (w + w.transpose()) * 0.5
            })
            .collect();
        Ok(FactoredOperator { h, mass, diagonal, columns: Some(columns) })
    }

    /// M⁻¹ Hᵀ r, the change of the unknowns' velocities by the forces.
    pub fn velocity_change(&self, r: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.h.unknowns()];
        self.h.transposed_product(r, &mut v);
        self.mass.solve(&mut v);
        v
    }

    /// Diagonal by random signs z: the mean of z_i (Wz)_i is W_ii (Bekas, Kokiopoulou, Saad 2007);
    /// each contact gets the mean of its components.
    fn estimated_diagonal(&self) -> Vec<Matrix<D, D>> {
        let n = self.h.contacts();
        let mut random = Random::new(2);
        let (mut sums, mut z, mut w) = (vec![0.0; n], vec![0.0; D * n], vec![0.0; D * n]);
        const PROBES: usize = 12;
        for _ in 0..PROBES {
            z.iter_mut().for_each(|z| *z = if random.uniform() < 0.5 { 1.0 } else { -1.0 });
            self.apply(&z, &mut w);
            for i in 0..n {
                sums[i] += block::<D>(&z, i).dot(&block(&w, i)) / (PROBES * D) as f64;
            }
        }
        let mean = sums.iter().sum::<f64>() / n.max(1) as f64;
        // Few probes may come out too small or negative.
        sums.iter().map(|s| Matrix::identity() * s.clamp(0.3 * mean, 10.0 * mean)).collect()
    }
}

impl<const D: usize> Operator<D> for FactoredOperator<'_, D> {
    fn contacts(&self) -> usize {
        self.h.contacts()
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        let v = self.velocity_change(r);
        self.h.product(&v, out);
    }

    /// Exact with columns, estimated without.
    fn diagonal(&self, i: usize) -> Matrix<D, D> {
        self.diagonal[i]
    }

    fn sweep<'b>(&'b self, r: &[f64]) -> Option<Box<dyn Sweep<D> + 'b>> {
        let columns = self.columns.as_ref()?;
        Some(Box::new(ProductSweep { h: self.h, columns, v: self.velocity_change(r) }))
    }

    /// (1 + W C)⁻¹W = H (M + HᵀCH)⁻¹Hᵀ.
    fn weighted<'b>(&'b self, weights: &'b [Matrix<D, D>]) -> Option<Box<dyn ShiftedSolve + 'b>> {
        let visit =
            |add: &mut dyn FnMut(usize, usize, f64)| self.h.gram(|i| Some(&weights[i]), add);
        let augmented = self.mass.augmented(&Gram { visit: &visit }, 1.0)?;
        Some(Box::new(Augmented { h: self.h, augmented }))
    }

    /// By Woodbury's identity: (W + ρ1)⁻¹ = (1 − H (ρM + HᵀH)⁻¹ Hᵀ)/ρ.
    fn shifted<'b>(&'b self, rho: f64) -> Option<Box<dyn ShiftedSolve + 'b>> {
        let visit = |add: &mut dyn FnMut(usize, usize, f64)| self.h.gram(|_| None, add);
        let augmented = self.mass.augmented(&Gram { visit: &visit }, 1.0 / rho)?;
        Some(Box::new(Woodbury { h: self.h, augmented, rho }))
    }
}

/// Keeps v = M⁻¹Hᵀr while single forces change.
struct ProductSweep<'a, const D: usize> {
    h: &'a ContactRows<D>,
    columns: &'a [Vec<f64>],
    v: Vec<f64>,
}

impl<const D: usize> Sweep<D> for ProductSweep<'_, D> {
    fn row(&self, i: usize) -> Vector<D> {
        self.h.row(i, &self.v)
    }

    fn add(&mut self, i: usize, change: &Vector<D>) {
        for (d, column) in self.columns[i].chunks_exact(self.v.len()).enumerate() {
            if change[d] != 0.0 {
                self.v.iter_mut().zip(column).for_each(|(v, c)| *v += change[d] * c);
            }
        }
    }
}

struct Augmented<'a, const D: usize> {
    h: &'a ContactRows<D>,
    augmented: Box<dyn MassInverse + 'a>,
}

impl<const D: usize> ShiftedSolve for Augmented<'_, D> {
    fn solve(&self, x: &mut [f64]) {
        let mut v = vec![0.0; self.h.unknowns()];
        self.h.transposed_product(x, &mut v);
        self.augmented.solve(&mut v);
        self.h.product(&v, x);
    }
}

struct Woodbury<'a, const D: usize> {
    h: &'a ContactRows<D>,
    augmented: Box<dyn MassInverse + 'a>,
    rho: f64,
}

impl<const D: usize> ShiftedSolve for Woodbury<'_, D> {
    fn solve(&self, x: &mut [f64]) {
        let mut v = vec![0.0; self.h.unknowns()];
        self.h.transposed_product(x, &mut v);
        self.augmented.solve(&mut v);
        for i in 0..self.h.contacts() {
            // (ρM + HᵀH)⁻¹ = (M + HᵀH/ρ)⁻¹/ρ.
            let solved = (block::<D>(x, i) - self.h.row(i, &v) / self.rho) / self.rho;
            set_block(x, i, &solved);
        }
    }
}
