//! A tree of boxes over the elements of a mesh.

use toile_geometry::Vec3;

use crate::bounds::Bounds;

/// Elements in a leaf: four share one traversal and still fit a cache line or two.
const LEAF: usize = 4;
/// Halving 2³² elements needs 32 levels; a traversal keeps at most one node per level.
const STACK: usize = 64;

/// Preorder: the left child follows its parent, the right one is named.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// Elements `order[start..start + count]`; `count == 0` for an inner node.
    start: u32,
    count: u32,
    right: u32,
}

/// Tree of boxes: built once by halving along the longest side, refitted when things move.
///
/// The tree depends only on the boxes it is built from (ties go to the smaller number), and queries
/// visit elements in an order that depends only on the tree: same input, same order.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
    /// Boxes of the elements, in the order of `order`.
    boxes: Vec<Bounds>,
    /// Nodes that are leaves, from left to right.
    leaves: Vec<u32>,
    built_area: f64,
}

impl Bvh {
    /// Builds the tree over boxes numbered from 0; no boxes make an empty tree.
    pub fn new(boxes: &[Bounds]) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(boxes.len()),
            order: (0..boxes.len() as u32).collect(),
            boxes: Vec::new(),
            leaves: Vec::new(),
            built_area: 0.0,
        };
        let centres: Vec<[f64; 3]> = boxes.iter().map(Bounds::centre).collect();
        if !boxes.is_empty() {
            let mut order = std::mem::take(&mut tree.order);
            tree.split(&centres, &mut order, 0);
            tree.order = order;
        }
        tree.boxes = vec![Bounds::EMPTY; boxes.len()];
        tree.refit(|e| boxes[e as usize]);
        tree.built_area = tree.area();
        tree
    }

    fn split(&mut self, centres: &[[f64; 3]], order: &mut [u32], start: usize) {
        let node = self.nodes.len();
        let count = if order.len() <= LEAF { order.len() } else { 0 };
        self.nodes.push(Node {
            bounds: Bounds::EMPTY,
            start: start as u32,
            count: count as u32,
            right: 0,
        });
        if count > 0 {
            self.leaves.push(node as u32);
            return;
        }
        let mut spread = Bounds::EMPTY;
        for &e in order.iter() {
            spread.include(&Vec3::from(centres[e as usize]));
        }
        let extent = [0, 1, 2].map(|k| spread.high[k] - spread.low[k]);
        let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
        // Whole leaves on the left, so that few leaves are half empty.
        let half = (order.len() / 2).div_ceil(LEAF) * LEAF;
        let half = half.clamp(1, order.len() - 1);
        order.select_nth_unstable_by(half, |&i, &j| {
            centres[i as usize][axis].total_cmp(&centres[j as usize][axis]).then(i.cmp(&j))
        });
        let (left, right) = order.split_at_mut(half);
        self.split(centres, left, start);
        self.nodes[node].right = self.nodes.len() as u32;
        self.split(centres, right, start + half);
    }

    /// Takes the boxes of moved elements; the tree keeps its structure.
    pub fn refit(&mut self, mut box_of: impl FnMut(u32) -> Bounds) {
        for (bounds, &e) in self.boxes.iter_mut().zip(&self.order) {
            *bounds = box_of(e);
        }
        for n in (0..self.nodes.len()).rev() {
            let Node { start, count, right, .. } = self.nodes[n];
            self.nodes[n].bounds = if count > 0 {
                let range = start as usize..(start + count) as usize;
                self.boxes[range].iter().fold(Bounds::EMPTY, |sum, b| sum.join(b))
            } else {
                self.nodes[n + 1].bounds.join(&self.nodes[right as usize].bounds)
            };
        }
    }

    /// Whether the boxes have grown so much since the tree was built that a new one pays.
    pub fn is_worn(&self) -> bool {
        self.area() > 2.0 * self.built_area
    }

    fn area(&self) -> f64 {
        self.nodes.iter().map(|n| n.bounds.half_area()).sum()
    }

    /// The box around everything.
    pub fn bounds(&self) -> Bounds {
        self.nodes.first().map_or(Bounds::EMPTY, |n| n.bounds)
    }

    /// Number of leaves: [`pairs_of_leaf`](Self::pairs_of_leaf) takes numbers below it.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// Visits the elements whose boxes overlap the given one.
    pub fn overlapping(&self, query: &Bounds, mut visit: impl FnMut(u32)) {
        let mut stack = [0u32; STACK];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let mut n = stack[top] as usize;
            loop {
                let node = &self.nodes[n];
                if !node.bounds.overlaps(query) {
                    break;
                }
                if node.count > 0 {
                    for i in node.start..node.start + node.count {
                        if self.boxes[i as usize].overlaps(query) {
                            visit(self.order[i as usize]);
                        }
                    }
                    break;
                }
                stack[top] = node.right;
                top += 1;
                n += 1;
            }
        }
    }

    /// Visits every pair of different elements with overlapping boxes whose first element, in the
    /// order of the tree, lies in the given leaf. All leaves together give every pair once.
    pub fn pairs_of_leaf(&self, leaf: usize, mut visit: impl FnMut(u32, u32)) {
        self.places_of_leaf(leaf, |i, j| visit(self.order[i], self.order[j]));
    }

    /// The elements in the order of the tree.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// [`pairs_of_leaf`](Self::pairs_of_leaf) by their places in the order of the tree.
    pub(crate) fn places_of_leaf(&self, leaf: usize, mut visit: impl FnMut(usize, usize)) {
        let own = self.leaves[leaf] as usize;
        let node = self.nodes[own];
        let (first, end) = (node.start as usize, (node.start + node.count) as usize);
        for i in first..end {
            for j in i + 1..end {
                if self.boxes[i].overlaps(&self.boxes[j]) {
                    visit(i, j);
                }
            }
        }
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let mut n = stack[top] as usize;
            loop {
                let other = &self.nodes[n];
                // Preorder: the last element below a node is the one before its successor's first.
                if !other.bounds.overlaps(&node.bounds) {
                    break;
                }
                if other.count > 0 {
                    if n > own {
                        let others = other.start as usize..(other.start + other.count) as usize;
                        for i in first..end {
                            if !self.boxes[i].overlaps(&other.bounds) {
                                continue;
                            }
                            for j in others.clone() {
                                if self.boxes[i].overlaps(&self.boxes[j]) {
                                    visit(i, j);
                                }
                            }
                        }
                    }
                    break;
                }
                stack[top] = other.right;
                top += 1;
                // Nothing on the left of the leaf is wanted.
                if other.right as usize <= own {
                    break;
                }
                n += 1;
            }
        }
    }

    /// Nearest element to a point: `distance_squared(e)` gives the square of the distance of the
    /// point to element e. Elements at `limit_squared` or more are not found.
    pub fn nearest(
        &self,
        point: &Vec3,
        limit_squared: f64,
        mut distance_squared: impl FnMut(u32) -> f64,
    ) -> Option<(u32, f64)> {
        let mut best = (u32::MAX, limit_squared);
        let mut stack = [(0u32, 0.0f64); STACK];
        let mut top = 0;
        if let Some(root) = self.nodes.first() {
            stack[0] = (0, root.bounds.distance_squared(point));
            top = 1;
        }
        while top > 0 {
            top -= 1;
            let (n, bound) = stack[top];
            if bound >= best.1 {
                continue;
            }
            let node = &self.nodes[n as usize];
            if node.count > 0 {
                for i in node.start as usize..(node.start + node.count) as usize {
                    if self.boxes[i].distance_squared(point) < best.1 {
                        let d = distance_squared(self.order[i]);
                        if d < best.1 {
                            best = (self.order[i], d);
                        }
                    }
                }
                continue;
            }
            let (left, right) = (n + 1, node.right);
            let dl = self.nodes[left as usize].bounds.distance_squared(point);
            let dr = self.nodes[right as usize].bounds.distance_squared(point);
            let pair = if dl <= dr { [(right, dr), (left, dl)] } else { [(left, dl), (right, dr)] };
            for child in pair {
                if child.1 < best.1 {
                    stack[top] = child;
                    top += 1;
                }
            }
        }
        (best.0 != u32::MAX).then_some(best)
    }
}
