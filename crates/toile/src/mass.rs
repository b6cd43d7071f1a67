//! M⁻¹ for the friction kernel by the sparse factorisation of `toile-solve`.

use std::sync::{Arc, Mutex, PoisonError};

use toile_cone::{Gram, MassInverse};
use toile_solve::{Cholesky, NodeGraph, Ordering, SolveError, SymmetricPattern, elimination_order};

/// A sparse symmetric positive definite matrix and its Cholesky factor, in an order that keeps the factor sparse: what
/// [`toile_cone::FactoredOperator`] needs on large cloth.
///
/// Unknowns come in groups of equal size, three for a vertex.
pub struct SparseMass {
    pattern: Arc<SymmetricPattern>,
    /// Where each unknown is in the order of elimination.
    places: Vec<usize>,
    values: Vec<f64>,
    /// Solving needs scratch; one solve at a time uses it.
    factor: Mutex<(Cholesky, Vec<f64>)>,
}

impl SparseMass {
    /// From entries (i, j, value), of which those of one place are added and only j ≤ i are read.
    ///
    /// Fails when an entry names an unknown that is not there or the matrix is not positive definite.
    pub fn new(
        unknowns: usize,
        group: u8,
        entries: &[(usize, usize, f64)],
    ) -> Result<Self, SolveError> {
        let size = usize::from(group.max(1));
        let mut sizes = vec![group.max(1); unknowns / size];
        // What is left over is a smaller group.
        if !unknowns.is_multiple_of(size) {
            sizes.push((unknowns % size) as u8);
        }
        let pairs = entries.iter().map(|(i, j, _)| ((i / size) as u32, (j / size) as u32));
        let graph = NodeGraph::from_pairs(sizes, pairs)?;
        let order = elimination_order(&graph, Ordering::default());
        let (pattern, first) = SymmetricPattern::from_node_graph(&graph, &order)?;
        let places = (0..unknowns).map(|i| first[i / size] + i % size).collect();
        let mut mass = SparseMass {
            values: vec![0.0; pattern.nnz()],
            factor: Mutex::new((Cholesky::new(Arc::new(pattern.clone()))?, Vec::new())),
            pattern: Arc::new(pattern),
            places,
        };
        for &(i, j, value) in entries.iter().filter(|(i, j, _)| j <= i) {
            if let Some(place) = mass.place(i, j) {
                mass.values[place] += value;
            }
        }
        let values = std::mem::take(&mut mass.values);
        mass.factorised(values)
    }

    /// Where the entry (i, j) is kept; `None` outside of the pattern.
    fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (*self.places.get(i)?, *self.places.get(j)?);
        self.pattern.position(a.max(b), a.min(b))
    }

    fn factorised(self, values: Vec<f64>) -> Result<Self, SolveError> {
        let mut factor = self.factor.into_inner().unwrap_or_else(PoisonError::into_inner);
        factor.0.factorize(&values)?;
        factor.1 = vec![0.0; self.places.len()];
        Ok(SparseMass { values, factor: Mutex::new(factor), ..self })
    }
}

impl MassInverse for SparseMass {
    fn unknowns(&self) -> usize {
        self.places.len()
    }

    fn solve(&self, x: &mut [f64]) {
        let mut factor = self.factor.lock().unwrap_or_else(PoisonError::into_inner);
        let (factor, work) = &mut *factor;
        self.places.iter().zip(x.iter()).for_each(|(p, x)| work[*p] = *x);
        factor.apply_inverse(work);
        self.places.iter().zip(x.iter_mut()).for_each(|(p, x)| *x = work[*p]);
    }

    fn augmented<'a>(&'a self, gram: &Gram<'_>, weight: f64) -> Option<Box<dyn MassInverse + 'a>> {
        let mut values = self.values.clone();
        let mut inside = true;
        gram.for_each(|i, j, value| {
            if j <= i {
                match self.place(i, j) {
                    Some(place) => values[place] += weight * value,
                    None => inside = false,
                }
            }
        });
        if !inside {
            return None;
        }
        let mass = SparseMass {
            pattern: self.pattern.clone(),
            places: self.places.clone(),
            values: Vec::new(),
            factor: Mutex::new((Cholesky::new(self.pattern.clone()).ok()?, Vec::new())),
        };
        Some(Box::new(mass.factorised(values).ok()?))
    }
}
