//! W in blocks of D × D where contacts see each other, nothing elsewhere.

use toile_num::parallel::for_chunks;
use toile_num::{Matrix, Vector};

use crate::error::{ProblemError, check_finite};
use crate::operator::{Operator, ShiftedSolve, Sweep};
use crate::small::{block, set_block};

/// Rows of blocks in increasing column order.
#[derive(Clone, Debug)]
pub struct BlockSparseOperator<const D: usize> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Matrix<D, D>>,
    diagonal: Vec<usize>,
}

impl<const D: usize> BlockSparseOperator<D> {
    /// From (row, column, block) in any order; blocks of one place are added, missing diagonal
    /// blocks are zero. Checked: places, finite numbers, symmetry.
    pub fn from_blocks(
        contacts: usize,
        mut entries: Vec<(usize, usize, Matrix<D, D>)>,
    ) -> Result<Self, ProblemError> {
        for (row, column, value) in &entries {
            let beyond = (*row).max(*column);
            if beyond >= contacts {
                let (row, column) = (*row, beyond);
                return Err(ProblemError::NoSuchColumn { row, column, columns: contacts });
            }
            check_finite("a block of W", value.as_slice())?;
        }
        entries.extend((0..contacts).map(|i| (i, i, Matrix::zeros())));
        // Stable: blocks of one place are added in the order given.
        entries.sort_by_key(|(row, column, _)| (*row, *column));
        let (mut starts, mut columns) = (vec![0; contacts + 1], Vec::new());
        let mut blocks: Vec<Matrix<D, D>> = Vec::new();
        let mut last = None;
        for (row, column, value) in entries {
            if last == Some((row, column)) {
                let end = blocks.len() - 1;
                blocks[end] += value;
            } else {
                columns.push(column as u32);
                blocks.push(value);
                last = Some((row, column));
            }
            starts[row + 1] = blocks.len();
        }
        for i in 0..contacts {
            starts[i + 1] = starts[i + 1].max(starts[i]);
        }
        let mut operator = BlockSparseOperator { starts, columns, blocks, diagonal: Vec::new() };
        operator.diagonal =
            (0..contacts).map(|i| operator.place(i, i).unwrap_or(usize::MAX)).collect();
        operator.check_symmetry()?;
        Ok(operator)
    }

    /// From rows of (column, block), each in increasing order of columns and with its diagonal. Checked: places and finite
    /// numbers; symmetry is the caller's, who has no need to sort and compare what was made in order.
    pub fn from_rows(rows: Vec<Vec<(u32, Matrix<D, D>)>>) -> Result<Self, ProblemError> {
        let contacts = rows.len();
        let count = rows.iter().map(Vec::len).sum();
        let mut starts = Vec::with_capacity(contacts + 1);
        let (mut columns, mut blocks) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut diagonal = vec![usize::MAX; contacts];
        starts.push(0);
        for (i, row) in rows.into_iter().enumerate() {
            for (column, value) in row {
                let j = column as usize;
                let before = if columns.len() > starts[i] { columns.last().copied() } else { None };
                if j >= contacts || before >= Some(column) {
                    return Err(ProblemError::NoSuchColumn {
                        row: i,
                        column: j,
                        columns: contacts,
                    });
                }
                check_finite("a block of W", value.as_slice())?;
                if j == i {
                    diagonal[i] = blocks.len();
                }
                columns.push(column);
                blocks.push(value);
            }
            if diagonal[i] == usize::MAX {
                return Err(ProblemError::NoSuchColumn { row: i, column: i, columns: contacts });
            }
            starts.push(blocks.len());
        }
        Ok(BlockSparseOperator { starts, columns, blocks, diagonal })
    }

    /// Number of blocks kept.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn place(&self, row: usize, column: usize) -> Option<usize> {
        let (a, b) = (self.starts[row], self.starts[row + 1]);
        self.columns[a..b].binary_search(&(column as u32)).ok().map(|k| a + k)
    }

    fn check_symmetry(&self) -> Result<(), ProblemError> {
        let largest = self.blocks.iter().fold(0.0f64, |m, b| m.max(b.amax()));
        for i in 0..self.contacts() {
            for k in self.starts[i]..self.starts[i + 1] {
                let j = self.columns[k] as usize;
                let mirror = self.place(j, i).map_or(Matrix::zeros(), |p| self.blocks[p]);
                for (row, column) in (0..D).flat_map(|p| (0..D).map(move |q| (p, q))) {
                    let (one, other) = (self.blocks[k][(row, column)], mirror[(column, row)]);
                    if (one - other).abs() > 1e-9 * largest {
                        let (row, column) = (D * i + row, D * j + column);
                        return Err(ProblemError::Asymmetric { row, column, one, other, largest });
                    }
                }
            }
        }
        Ok(())
    }

    fn row_product(&self, i: usize, r: &[f64]) -> Vector<D> {
        let mut sum = Vector::zeros();
        for k in self.starts[i]..self.starts[i + 1] {
            sum += self.blocks[k] * block::<D>(r, self.columns[k] as usize);
        }
        sum
    }
}

impl<const D: usize> Operator<D> for BlockSparseOperator<D> {
    fn contacts(&self) -> usize {
        self.starts.len() - 1
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        for_chunks(out, 64 * D, |c, part| {
            for k in 0..part.len() / D {
                set_block(part, k, &self.row_product(64 * c + k, r));
            }
        });
    }

    fn diagonal(&self, i: usize) -> Matrix<D, D> {
        self.blocks[self.diagonal[i]]
    }

    fn sweep<'a>(&'a self, r: &[f64]) -> Option<Box<dyn Sweep<D> + 'a>> {
        Some(Box::new(SparseSweep { operator: self, r: r.to_vec() }))
    }

    /// Greedy colours in the order of the contacts; `None` when they would be too many to help.
    fn colours(&self) -> Option<Vec<Vec<u32>>> {
        let n = self.contacts();
        let mut colour_of = vec![u32::MAX; n];
        let mut colours: Vec<Vec<u32>> = Vec::new();
        let mut seen: Vec<usize> = Vec::new();
        for i in 0..n {
            for &j in &self.columns[self.starts[i]..self.starts[i + 1]] {
                if let Some(mark) = seen.get_mut(colour_of[j as usize] as usize) {
                    *mark = i + 1;
                }
            }
            let free = seen.iter().position(|mark| *mark != i + 1).unwrap_or(seen.len());
            if free == seen.len() {
                seen.push(0);
                colours.push(Vec::new());
            }
            colour_of[i] = free as u32;
            colours[free].push(i as u32);
        }
        (colours.len() * 64 <= n).then_some(colours)
    }

    fn row_blocks(&self, i: usize) -> Option<(&[u32], &[Matrix<D, D>])> {
        let row = self.starts[i]..self.starts[i + 1];
        Some((&self.columns[row.clone()], &self.blocks[row]))
    }

    fn shifted<'a>(&'a self, _rho: f64) -> Option<Box<dyn ShiftedSolve + 'a>> {
        None
    }
}

struct SparseSweep<'a, const D: usize> {
    operator: &'a BlockSparseOperator<D>,
    r: Vec<f64>,
}

impl<const D: usize> Sweep<D> for SparseSweep<'_, D> {
    fn row(&self, i: usize) -> Vector<D> {
        self.operator.row_product(i, &self.r)
    }

    fn add(&mut self, i: usize, change: &Vector<D>) {
        let now = block::<D>(&self.r, i) + change;
        set_block(&mut self.r, i, &now);
    }
}
