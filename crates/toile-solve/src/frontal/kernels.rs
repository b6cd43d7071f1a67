//! Dense arithmetic on strips of eight rows.
//!
//! A strip stores its eight rows column after column, eight numbers each. The sum
//! Σ_q a_q b_qᵀ over the columns of two strips is an 8 × 8 tile; all of a factorisation is made of such
//! sums, and both operands are read from one end to the other. Everything takes the instruction set as
//! an argument and is inlined: only in the caller is it known which instructions may be used.
//!
//! A tile is computed by the same operations in the same order whatever is computed beside it: bits
//! depend neither on how rows are grouped nor on the threads that share them.

use super::plan::{STRIP, column_strip};
use crate::backend::PivotRegularization;
use pulp::Simd;

/// The rows of one column of a strip, as registers.
pub(super) type Column<S, const V: usize> = [<S as Simd>::f64s; V];

/// −Σ_q a_q b_qᵀ for columns `from..from + NR` of the tiles of R strips with the strip b.
#[inline(always)]
pub(super) fn sums<S: Simd, const V: usize, const R: usize, const NR: usize>(
    simd: S,
    a: [&[f64]; R],
    b: &[f64],
    from: usize,
) -> [[Column<S, V>; R]; NR] {
    let b = b.as_chunks::<STRIP>().0;
    let depth = b.len();
    let a = a.map(|strip| &S::as_simd_f64s(strip).0.as_chunks::<V>().0[..depth]);
    let mut sums = [[[simd.splat_f64s(0.0); V]; R]; NR];
    for q in 0..depth {
        for c in 0..NR {
            let factor = simd.splat_f64s(b[q][from + c]);
            for r in 0..R {
                for v in 0..V {
                    sums[c][r][v] = simd.negate_mul_add_e_f64s(a[r][q][v], factor, sums[c][r][v]);
                }
            }
        }
    }
    sums
}

#[inline(always)]
pub(super) fn load<S: Simd, const V: usize>(numbers: &[f64]) -> Column<S, V> {
    S::as_simd_f64s(&numbers[..STRIP]).0.as_chunks::<V>().0[0]
}

#[inline(always)]
pub(super) fn store<S: Simd, const V: usize>(numbers: &mut [f64], column: Column<S, V>) {
    S::as_mut_simd_f64s(&mut numbers[..STRIP]).0.as_chunks_mut::<V>().0[0] = column;
}

/// Written as a loop, as everything here: closures are compiled for the instructions all processors have
/// unless they happen to be inlined.
#[inline(always)]
pub(super) fn scale<S: Simd, const V: usize>(
    simd: S,
    mut column: Column<S, V>,
    factor: S::f64s,
) -> Column<S, V> {
    for v in 0..V {
        column[v] = simd.mul_f64s(column[v], factor);
    }
    column
}

#[inline(always)]
pub(super) fn add<S: Simd, const V: usize>(
    simd: S,
    mut a: Column<S, V>,
    b: Column<S, V>,
) -> Column<S, V> {
    for v in 0..V {
        a[v] = simd.add_f64s(a[v], b[v]);
    }
    a
}

/// The R strips that follow each other from the start of `strips`, columns `q` of each.
#[inline(always)]
fn columns_of<'a, const R: usize>(
    strips: &'a [f64],
    stride: usize,
    q: &std::ops::Range<usize>,
) -> [&'a [f64]; R] {
    std::array::from_fn(|r| &strips[r * stride + STRIP * q.start..r * stride + STRIP * q.end])
}

/// What `multiply` does with the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    /// C ← −A Bᵀ.
    Assign,
    /// C ← C − A Bᵀ.
    Subtract,
}

/// The tiles of R strips with the strip b, into columns of height `height` that start with `to`.
#[inline(always)]
fn tiles<S: Simd, const V: usize, const R: usize, const NR: usize>(
    simd: S,
    a: [&[f64]; R],
    b: &[f64],
    to: &mut [f64],
    height: usize,
    into: Into,
) {
    for from in (0..STRIP).step_by(NR) {
        let sums = sums::<S, V, R, NR>(simd, a, b, from);
        for c in 0..NR {
            let column = &mut to[(from + c) * height..][..R * STRIP];
            for r in 0..R {
                let part = &mut column[r * STRIP..][..STRIP];
                let result = match into {
                    Into::Assign => sums[c][r],
                    Into::Subtract => add::<S, V>(simd, load::<S, V>(part), sums[c][r]),
                };
                store::<S, V>(part, result);
            }
        }
    }
}

/// Part of the pivots of a front that is eliminated at once.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// Pivot strips.
    pub(super) strips: std::ops::Range<usize>,
    /// Columns of the front.
    pub(super) columns: usize,
    /// All strips of the front.
    pub(super) all: usize,
}

impl Panel {
    /// Columns of the panel.
    #[inline(always)]
    fn range(&self) -> std::ops::Range<usize> {
        STRIP * self.strips.start..(STRIP * self.strips.end).min(self.columns)
    }
    /// Columns of the panel before those of a strip.
    #[inline(always)]
    fn before(&self, strip: usize) -> std::ops::Range<usize> {
        STRIP * self.strips.start..STRIP * strip
    }
    /// Columns that belong to a pivot strip.
    #[inline(always)]
    fn width(&self, strip: usize) -> usize {
        (self.columns - STRIP * strip).min(STRIP)
    }
    #[inline(always)]
    fn stride(&self) -> usize {
        STRIP * self.columns
    }
    #[inline(always)]
    fn height(&self) -> usize {
        STRIP * self.all
    }
}

/// What is accepted as a pivot.
#[derive(Clone, Copy)]
pub(super) enum Pivots<'a> {
    /// LLᵀ: positive ones.
    Positive,
    /// LDLᵀ: any but zero, replaced on request by the sign expected of the column.
    Signed(Option<(PivotRegularization<'a>, &'a [u32])>),
}

impl Pivots<'_> {
    pub(super) fn is_signed(&self) -> bool {
        matches!(self, Pivots::Signed(_))
    }

    /// Diagonal to store and its inverse, from what elimination left of it; none if it is no pivot.
    #[inline(always)]
    fn accept(&self, column: usize, left: f64) -> Option<(f64, f64)> {
        let pivot = match self {
            Pivots::Positive if left > 0.0 => left.sqrt(),
            // NaN too.
            Pivots::Positive => return None,
            Pivots::Signed(None) => left,
            Pivots::Signed(Some((rule, order))) => match rule.signs[order[column] as usize] {
                1 if left <= rule.epsilon => rule.delta,
                -1 if left >= -rule.epsilon => -rule.delta,
                _ if left.abs() <= rule.epsilon && left < 0.0 => -rule.delta,
                _ if left.abs() <= rule.epsilon => rule.delta,
                _ => left,
            },
        };
        (pivot != 0.0 && pivot.is_finite()).then(|| (pivot, 1.0 / pivot))
    }
}

/// The body for each of the eight columns of a tile below a width, with the column as a constant: a loop
/// would keep the tile in memory, since registers have no index.
macro_rules! for_each_column {
    ($column:ident < $width:expr => $body:block) => {
        for_each_column!(@ $column $width, $body, 0 1 2 3 4 5 6 7);
    };
    (@ $column:ident $width:expr, $body:block, $($number:literal)*) => {
        $(
            if $number < $width {
                const $column: usize = $number;
                $body
            }
        )*
    };
}

/// Strips of a factor: L, and L D where the two differ.
///
/// LLᵀ multiplies L by itself and leaves the second empty.
pub(super) struct Strips<'a> {
    pub(super) l: &'a mut [f64],
    pub(super) ld: &'a mut [f64],
}

/// Eliminates the pivot rows of a panel. `window` holds the front before elimination, less what
/// earlier panels subtracted. On failure returns the column of the front without a pivot.
#[inline(always)]
pub(super) fn eliminate_pivots<
    S: Simd,
    const V: usize,
    const R: usize,
    const NR: usize,
    const SIGNED: bool,
>(
    simd: S,
    panel: &Panel,
    window: &[f64],
    factor: Strips<'_>,
    inverses: &mut [f64],
    pivots: &Pivots<'_>,
    first: usize,
) -> Result<(), usize> {
    let (stride, height) = (panel.stride(), panel.height());
    for t in panel.strips.clone() {
        let (l_above, l) = factor.l.split_at_mut(t * stride);
        let (ld_above, ld) = factor.ld.split_at_mut(if SIGNED { t * stride } else { 0 });
        for b in panel.strips.start..t {
            let rows =
                Rows { l: &mut l[..stride], ld: if SIGNED { &mut ld[..stride] } else { &mut [] } };
            rows.eliminate::<S, V, 1, NR, SIGNED>(
                simd,
                panel,
                b,
                &window[STRIP * t..],
                l_above,
                ld_above,
                inverses,
            );
        }
        // The tile on the diagonal.
        let q = panel.before(t);
        let mut x = [[simd.splat_f64s(0.0); V]; STRIP];
        {
            let [a] = columns_of::<1>(l, stride, &q);
            let [b] = if SIGNED { columns_of::<1>(ld, stride, &q) } else { [a] };
            for from in (0..STRIP).step_by(NR) {
                let sums = sums::<S, V, 1, NR>(simd, [a], b, from);
                for c in 0..NR {
                    let before =
                        load::<S, V>(&window[(STRIP * t + from + c) * height + STRIP * t..]);
                    x[from + c] = add::<S, V>(simd, before, sums[c][0]);
                }
            }
        }
        let width = panel.width(t);
        // One strip with itself: L, L D and inverses of these eight columns.
        let at = STRIP * STRIP * t;
        let mut diagonal = Diagonal {
            l: &mut l[at..at + STRIP * width],
            ld: if SIGNED { &mut ld[at..at + STRIP * width] } else { &mut [] },
            inverses: &mut inverses[STRIP * t..][..width],
        };
        for_each_column!(C < width => {
            let left = numbers_of::<S, V>(x[C])[C];
            let Some((pivot, inverse)) = pivots.accept(first + STRIP * t + C, left) else {
                return Err(STRIP * t + C);
            };
            diagonal.eliminate::<S, V, C, SIGNED>(simd, &mut x, pivot, inverse);
        });
    }
    Ok(())
}

/// Eight pivots: their columns of L and L D, and their inverses.
struct Diagonal<'a> {
    l: &'a mut [f64],
    ld: &'a mut [f64],
    inverses: &'a mut [f64],
}

impl Diagonal<'_> {
    /// Column C, known but for its division by the pivot, from the later ones of the tile.
    #[inline(always)]
    fn eliminate<S: Simd, const V: usize, const C: usize, const SIGNED: bool>(
        &mut self,
        simd: S,
        x: &mut [Column<S, V>; STRIP],
        pivot: f64,
        inverse: f64,
    ) {
        self.inverses[C] = inverse;
        let scaled = scale::<S, V>(simd, x[C], simd.splat_f64s(inverse));
        // L D below the pivot, which is L itself for LLᵀ.
        let left = if SIGNED { x[C] } else { scaled };
        let mut numbers = numbers_of::<S, V>(scaled);
        for d in C + 1..STRIP {
            let factor = simd.splat_f64s(numbers[d]);
            for v in 0..V {
                x[d][v] = simd.negate_mul_add_e_f64s(left[v], factor, x[d][v]);
            }
        }
        // Zeros above, so that solves may take whole registers.
        numbers[..C].fill(0.0);
        numbers[C] = pivot;
        self.l[STRIP * C..][..STRIP].copy_from_slice(&numbers);
        if SIGNED {
            store::<S, V>(&mut self.ld[STRIP * C..], left);
        }
    }
}

#[inline(always)]
fn numbers_of<S: Simd, const V: usize>(column: Column<S, V>) -> [f64; STRIP] {
    let mut numbers = [0.0; STRIP];
    store::<S, V>(&mut numbers, column);
    numbers
}

/// Strips below the pivots of a panel, one after the other.
struct Rows<'a> {
    l: &'a mut [f64],
    ld: &'a mut [f64],
}

impl Rows<'_> {
    /// Columns of pivot strip `b` in R strips: X ← (A − Σ) L_b⁻ᵀ. `window` starts with their rows.
    #[inline(always)]
    fn eliminate<S: Simd, const V: usize, const R: usize, const NR: usize, const SIGNED: bool>(
        self,
        simd: S,
        panel: &Panel,
        b: usize,
        window: &[f64],
        l_pivots: &[f64],
        ld_pivots: &[f64],
        inverses: &[f64],
    ) {
        let (stride, height) = (panel.stride(), panel.height());
        let q = panel.before(b);
        let zero = [[simd.splat_f64s(0.0); V]; R];
        let mut x = [zero; STRIP];
        {
            let a = columns_of::<R>(self.l, stride, &q);
            let pivots = if SIGNED { ld_pivots } else { l_pivots };
            let [pivots] = columns_of::<1>(&pivots[b * stride..], stride, &q);
            for from in (0..STRIP).step_by(NR) {
                let sums = sums::<S, V, R, NR>(simd, a, pivots, from);
                for c in 0..NR {
                    let column = &window[(STRIP * b + from + c) * height..][..R * STRIP];
                    for r in 0..R {
                        let before = load::<S, V>(&column[r * STRIP..]);
                        x[from + c][r] = add::<S, V>(simd, before, sums[c][r]);
                    }
                }
            }
        }
        let width = panel.width(b);
        let triangle = l_pivots[b * stride + STRIP * STRIP * b..].as_chunks::<STRIP>().0;
        let triangle = &triangle[..width];
        let inverses = &inverses[STRIP * b..][..width];
        for_each_column!(C < width => {
            if !SIGNED {
                let inverse = simd.splat_f64s(inverses[C]);
                for r in 0..R {
                    x[C][r] = scale::<S, V>(simd, x[C][r], inverse);
                }
            }
            subtract_column::<S, V, R, C>(simd, &mut x, &triangle[C]);
        });
        let columns = STRIP * STRIP * b..STRIP * (STRIP * b + width);
        for r in 0..R {
            let strip = r * stride + columns.start..r * stride + columns.end;
            let l = &mut self.l[strip.clone()];
            if SIGNED {
                let ld = &mut self.ld[strip];
                for_each_column!(C < width => {
                    let inverse = simd.splat_f64s(inverses[C]);
                    store::<S, V>(&mut ld[STRIP * C..], x[C][r]);
                    store::<S, V>(&mut l[STRIP * C..], scale::<S, V>(simd, x[C][r], inverse));
                });
            } else {
                for_each_column!(C < width => { store::<S, V>(&mut l[STRIP * C..], x[C][r]); });
            }
        }
    }
}

/// Subtracts column C of a tile, times a column of L, from the later ones.
#[inline(always)]
fn subtract_column<S: Simd, const V: usize, const R: usize, const C: usize>(
    simd: S,
    x: &mut [[Column<S, V>; R]; STRIP],
    l: &[f64; STRIP],
) {
    for d in C + 1..STRIP {
        let factor = simd.splat_f64s(l[d]);
        for r in 0..R {
            for v in 0..V {
                x[d][r][v] = simd.negate_mul_add_e_f64s(x[C][r][v], factor, x[d][r][v]);
            }
        }
    }
}

/// Eliminates a panel in strips `from..` of a front, as many as `rows` holds.
#[inline(always)]
pub(super) fn eliminate_rows<
    S: Simd,
    const V: usize,
    const R: usize,
    const NR: usize,
    const SIGNED: bool,
>(
    simd: S,
    panel: &Panel,
    from: usize,
    window: &[f64],
    rows: Strips<'_>,
    l_pivots: &[f64],
    ld_pivots: &[f64],
    inverses: &[f64],
) {
    let stride = panel.stride();
    let count = rows.l.len() / stride;
    let mut t = 0;
    while t < count {
        let group = (count - t).min(R);
        let at = t * stride..(t + group) * stride;
        let window = &window[STRIP * (from + t)..];
        for b in panel.strips.clone() {
            let ld = if SIGNED { &mut rows.ld[at.clone()] } else { &mut [][..] };
            let part = Rows { l: &mut rows.l[at.clone()], ld };
            match group {
                3 if R >= 3 => part.eliminate::<S, V, 3, NR, SIGNED>(
                    simd, panel, b, window, l_pivots, ld_pivots, inverses,
                ),
                2 if R >= 2 => part.eliminate::<S, V, 2, NR, SIGNED>(
                    simd, panel, b, window, l_pivots, ld_pivots, inverses,
                ),
                _ => part.eliminate::<S, V, 1, NR, SIGNED>(
                    simd, panel, b, window, l_pivots, ld_pivots, inverses,
                ),
            }
        }
        t += group;
    }
}

/// Where the tiles of some column strips go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// Columns of full height: the window of a front.
    Window,
    /// Columns from the diagonal strip down: what a front leaves.
    Left,
}

/// C ← C − L (L D)ᵀ over a panel, for the tiles on and below the diagonal of column strips `columns`
/// of the front, of which `to` holds all.
#[inline(always)]
pub(super) fn multiply<S: Simd, const V: usize, const R: usize, const NR: usize>(
    simd: S,
    panel: &Panel,
    columns: std::ops::Range<usize>,
    l: &[f64],
    ld: &[f64],
    to: &mut [f64],
    target: Target,
    into: Into,
) {
    let stride = panel.stride();
    let q = panel.range();
    let pivot_strips = panel.columns.div_ceil(STRIP);
    // Where in `to` the tile of strips (t, c) starts, and the height of its columns.
    let place = |t: usize, c: usize| match target {
        Target::Window => {
            (panel.height() * STRIP * (c - columns.start) + STRIP * t, panel.height())
        }
        Target::Left => {
            let strips = panel.all - pivot_strips;
            let (begin, c) = (columns.start - pivot_strips, c - pivot_strips);
            let at = column_strip(strips, c) - column_strip(strips, begin);
            (at + STRIP * (t - pivot_strips - c), STRIP * (strips - c))
        }
    };
    // Rows in the outer loop: R strips stay in the nearest cache while those of the columns pass by.
    let mut t = columns.start;
    while t < panel.all {
        let rows = (panel.all - t).min(R);
        for c in columns.start..columns.end.min(t + rows) {
            let [b] = columns_of::<1>(&ld[c * stride..], stride, &q);
            let top = t.max(c);
            let (at, height) = place(top, c);
            let (a, to) = (&l[top * stride..], &mut to[at..]);
            match t + rows - top {
                3 if R >= 3 => {
                    tiles::<S, V, 3, NR>(simd, columns_of(a, stride, &q), b, to, height, into);
                }
                2 if R >= 2 => {
                    tiles::<S, V, 2, NR>(simd, columns_of(a, stride, &q), b, to, height, into);
                }
                _ => tiles::<S, V, 1, NR>(simd, columns_of(a, stride, &q), b, to, height, into),
            }
        }
        t += rows;
    }
}
