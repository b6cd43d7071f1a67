//! W of a friction problem: whole, by its entries, or by the bodies.

/// How W is given.
#[derive(Clone, Debug, PartialEq)]
pub enum FrictionMatrix {
    /// All of it, row after row.
    Dense(Vec<f64>),
    /// Its entries.
    Sparse(SparseMatrix),
    /// W = Hᵀ M⁻¹ H by the bodies.
    Global(Box<GlobalFriction>),
}

/// M v = H r + f and u = Hᵀ v + b: contacts by the motion of the bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalFriction {
    /// M, symmetric.
    pub mass: SparseMatrix,
    /// H: a row for each unknown of v, a column for each component of a contact.
    pub h: SparseMatrix,
    /// f.
    pub force: Vec<f64>,
}

/// A matrix by its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// (row, column, value) in the order of rows, then columns, each place once.
    pub entries: Vec<(u32, u32, f64)>,
}

impl SparseMatrix {
    /// From entries in any order; those of one place are added.
    pub fn new(rows: usize, columns: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        entries.sort_by_key(|(row, column, _)| (*row, *column));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0.0 };
            same
        });
        SparseMatrix { rows, columns, entries }
    }

    fn at(&self, row: u32, column: u32) -> f64 {
        let found = self.entries.binary_search_by_key(&(row, column), |e| (e.0, e.1));
        found.map_or(0.0, |k| self.entries[k].2)
    }

    /// What forbids it to be W or M: it is not symmetric, or its diagonal is negative.
    pub(crate) fn flaw(&self, name: &str) -> Option<String> {
        let largest = self.entries.iter().fold(0.0f64, |m, e| m.max(e.2.abs()));
        for &(row, column, one) in &self.entries {
            let other = self.at(column, row);
            if (one - other).abs() > 1e-9 * largest {
                return Some(format!(
                    "{name}[{row}][{column}] = {one:e} but {name}[{column}][{row}] = {other:e}, of largest entry {largest:e}; {name} is symmetric, give both halves of it"
                ));
            }
            if row == column && one < -1e-9 * largest {
                return Some(format!(
                    "{name}[{row}][{row}] = {one:e} is negative; {name} has no negative eigenvalue"
                ));
            }
        }
        None
    }
}
