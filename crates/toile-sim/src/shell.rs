//! Shells: from a mesh, a material and pins to stencils.

use toile_energy::{
    AreaStretch, EdgeStretch, Gravity, HingeBend, KoiterFace, Membrane, ShellStiffness,
};
use toile_geometry::measure::{EdgeRule, NormalRule, triangle_area};
use toile_geometry::{Topology, Vec3};

use crate::seam::{SeamHinges, Stitch, seam_hinges, thread_stiffness};
use crate::{ModelBuilder, NO_NODE, Role, SimError};

/// Longest time of internal damping \[s\]: what is beyond it is no cloth, and far beyond it no number.
const MOST_DAMPING: f64 = 1e6;

/// What a shell is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellMaterial {
    /// The discrete Koiter shell.
    Koiter {
        /// Elastic constants in the warp–weft frame.
        stiffness: ShellStiffness,
        /// Rule for mid-edge normals.
        normals: NormalRule,
        /// Law of the membrane.
        membrane: Membrane,
        /// Warp direction in space, projected on each rest face; irrelevant when isotropic.
        warp: Vec3,
    },
    /// Discrete Shells: edge, area and hinge springs.
    DiscreteShells {
        /// Tension per unit strain of an edge \[N\].
        k_length: f64,
        /// Tension per unit of relative area change \[N/m\].
        k_area: f64,
        /// Hinge stiffness \[N·m\].
        k_bend: f64,
    },
    /// The Koiter membrane with hinges for bending: what separates the two discretisations of bending.
    HingedMembrane {
        /// Elastic constants of the membrane.
        stiffness: ShellStiffness,
        /// Law of the membrane.
        membrane: Membrane,
        /// Hinge stiffness \[N·m\].
        k_bend: f64,
    },
}

impl ShellMaterial {
    /// Isotropic Koiter shell with St Venant–Kirchhoff membrane and `Tan` normals.
    pub fn isotropic(young: f64, poisson: f64, thickness: f64) -> Self {
        Self::Koiter {
            stiffness: ShellStiffness::isotropic(young, poisson, thickness),
            normals: NormalRule::Tan,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        }
    }

    fn check(&self) -> Result<(), SimError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(SimError::BadParameter { what, value, must: "a positive number" })
            }
        };
        match self {
            Self::Koiter { stiffness, .. } | Self::HingedMembrane { stiffness, .. } => {
                let all = stiffness.membrane.iter().chain(&stiffness.bending);
                if !stiffness.is_positive() || all.clone().any(|c| !c.is_finite()) {
                    let worst = all.copied().fold(f64::INFINITY, f64::min);
                    return Err(SimError::BadParameter {
                        what: "the stiffness of the sheet (its least constant)",
                        value: worst,
                        must: "positive definite: young, thickness and shear > 0, −1 < poisson ≤ 0.5",
                    });
                }
                if let Self::HingedMembrane { k_bend, .. } = self {
                    positive("k_bend", *k_bend)?;
                }
                Ok(())
            }
            Self::DiscreteShells { k_length, k_area, k_bend } => {
                positive("k_length", *k_length)?;
                positive("k_bend", *k_bend)?;
                if *k_area >= 0.0 && k_area.is_finite() {
                    Ok(())
                } else {
                    let must = "zero or a positive number";
                    Err(SimError::BadParameter { what: "k_area", value: *k_area, must })
                }
            }
        }
    }
}

/// One sheet of a model.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Connectivity.
    pub topology: Topology,
    /// Where the vertices start \[m\].
    pub positions: Vec<Vec3>,
    /// The rest shape \[m\].
    pub rest_positions: Vec<Vec3>,
    /// The material.
    pub material: ShellMaterial,
    /// Mass per rest area \[kg/m²\].
    pub areal_density: f64,
    /// Vertices held where they start. A face whose three corners are pinned is in a clamp: it does
    /// not bend, and its neighbours leave it with their normals along its own.
    pub pins: Vec<u32>,
    /// What sews panels together.
    pub seams: Vec<Stitch>,
    /// Internal damping \[s\]: stresses gain so many seconds of the rate at which they change.
    pub damping: f64,
}

/// Nodes of a shell in a model.
#[derive(Clone, Debug)]
pub struct ShellNodes {
    /// Node of vertex 0; the others follow.
    pub vertices: u32,
    /// Node of each edge's angle, [`NO_NODE`] where it has none.
    pub angles: Vec<u32>,
}

impl Shell {
    /// Adds the shell to a model under the acceleration `gravity` \[m/s²\].
    pub fn add_to(
        &self,
        builder: &mut ModelBuilder,
        gravity: Vec3,
    ) -> Result<ShellNodes, SimError> {
        self.check()?;
        let n = self.topology.vertex_count();
        let mut base = None;
        for (start, rest) in self.positions.iter().zip(&self.rest_positions) {
            let node = builder.vertex(*start, *rest);
            base.get_or_insert(node);
        }
        let base = base.unwrap_or(0);
        let mut pinned = vec![false; n];
        for &pin in &self.pins {
            pinned[pin as usize] = true;
            builder.fix(base + pin);
        }
        let faces = self.topology.faces();
        let rest_corners = |f: usize| faces[f].map(|v| self.rest_positions[v as usize]);
        for f in 0..faces.len() {
            let mass = self.areal_density * triangle_area(&rest_corners(f)) / 3.0;
            for v in faces[f] {
                builder.add_mass(base + v, mass);
            }
        }
        let vertex_nodes: Vec<[u32; 3]> = faces.iter().map(|f| f.map(|v| base + v)).collect();
        let weight = Gravity { areal_density: self.areal_density, acceleration: gravity };
        builder.add::<_, 9, 3>(Role::Load, vec![weight; faces.len()], vertex_nodes.clone());
        let elastic = builder.groups();

        let clamped: Vec<bool> =
            faces.iter().map(|f| f.iter().all(|&v| pinned[v as usize])).collect();
        let mut angles = vec![NO_NODE; self.topology.edge_count()];
        match self.material {
            ShellMaterial::Koiter { stiffness, normals, membrane, warp } => {
                if normals.has_edge_angles() {
                    for (e, edge) in self.topology.edges().iter().enumerate() {
                        let sides = edge.faces.iter().flatten();
                        // The normal on the edge of a clamp is the clamp's.
                        if sides.clone().any(|&f| clamped[f as usize]) {
                            continue;
                        }
                        let [a, b] = edge.vertices.map(|v| self.rest_positions[v as usize]);
                        let area: f64 =
                            sides.map(|&f| triangle_area(&rest_corners(f as usize))).sum();
                        let inertia = self.areal_density * area * (b - a).norm_squared();
                        angles[e] = builder.angle(inertia, (b - a).norm());
                    }
                }
                self.add_koiter(
                    builder, base, &clamped, &angles, stiffness, normals, membrane, warp,
                );
            }
            ShellMaterial::DiscreteShells { k_length, k_area, k_bend } => {
                let edges = self.topology.edges();
                let nodes = edges.iter().map(|e| e.vertices.map(|v| base + v)).collect();
                let spring = EdgeStretch { stiffness: k_length };
                builder.add::<_, 6, 2>(Role::Elastic, vec![spring; edges.len()], nodes);
                if k_area > 0.0 {
                    let area = AreaStretch { stiffness: k_area };
                    builder.add::<_, 9, 3>(Role::Elastic, vec![area; faces.len()], vertex_nodes);
                }
                self.add_hinges(builder, base, &clamped, k_bend);
            }
            ShellMaterial::HingedMembrane { stiffness, membrane, k_bend } => {
                let stiffness = ShellStiffness { bending: [0.0; 4], ..stiffness };
                let normals = NormalRule::Average;
                // Without bending the neighbours do not matter: no edge is looked at.
                let all = vec![true; faces.len()];
                let warp = Vec3::x();
                self.add_koiter(builder, base, &all, &angles, stiffness, normals, membrane, warp);
                self.add_hinges(builder, base, &clamped, k_bend);
            }
        }
        if !self.seams.is_empty() {
            let k = self.thread_stiffness();
            let threads = self.seams.iter().map(|s| s.thread(k)).collect();
            let node = |(v, w): (u32, f64)| if w == 0.0 { NO_NODE } else { base + v };
            let nodes = self.seams.iter().map(|s| s.carriers().map(node)).collect();
            builder.add::<_, 9, 3>(Role::Elastic, threads, nodes);
            let SeamHinges { seams: (hinges, nodes), tips: (tips, tip_nodes) } = seam_hinges(self);
            let nodes = nodes.iter().map(|n| n.map(|v| base + v)).collect();
            builder.add::<_, 18, 6>(Role::Elastic, hinges, nodes);
            let nodes = tip_nodes.iter().map(|n| n.map(|v| base + v)).collect();
            builder.add::<_, 15, 5>(Role::Elastic, tips, nodes);
        }
        builder.damp(elastic, self.damping);
        Ok(ShellNodes { vertices: base, angles })
    }

    /// Stiffness of the threads of its seams \[N/m\].
    pub fn thread_stiffness(&self) -> f64 {
        thread_stiffness(&self.material, self.mean_seam_edge())
    }

    /// Mean length of the edges that are sewn to, where they start \[m\].
    fn mean_seam_edge(&self) -> f64 {
        let length = |s: &Stitch| {
            let [a, b] = s.edge.map(|v| self.positions[v as usize]);
            (b - a).norm()
        };
        let mean = self.seams.iter().map(length).sum::<f64>() / self.seams.len().max(1) as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    fn add_koiter(
        &self,
        builder: &mut ModelBuilder,
        base: u32,
        clamped: &[bool],
        angles: &[u32],
        stiffness: ShellStiffness,
        normals: NormalRule,
        membrane: Membrane,
        warp: Vec3,
    ) {
        let topology = &self.topology;
        let mut energies = Vec::new();
        let mut nodes = Vec::new();
        for (f, corners) in topology.faces().iter().enumerate() {
            let mut stencil = [NO_NODE; 9];
            let mut rules = [EdgeRule { fold: 0.0, turn: 0.0 }; 3];
            // The metric is measured at the first corner. With the longest edge opposite to it the two edges
            // there are the short ones, and the strain of a sliver does not drown in their difference.
            let first = self.corner_across_longest_edge(corners);
            let turned: [usize; 3] = std::array::from_fn(|m| (first + m) % 3);
            for m in 0..3 {
                stencil[m] = base + corners[turned[m]];
                let e = topology.face_edges()[f][turned[m]] as usize;
                let edge = &topology.edges()[e];
                let side = usize::from(edge.faces[0] != Some(f as u32));
                if clamped[f] {
                    continue; // flat in its clamp, no edge matters
                }
                if let (Some(other), Some(across)) = (edge.faces[1 - side], edge.opposite[1 - side])
                {
                    stencil[3 + m] = base + across;
                    rules[m].fold = if clamped[other as usize] { 1.0 } else { 0.5 };
                }
                if angles[e] != NO_NODE {
                    stencil[6 + m] = angles[e];
                    rules[m].turn = if side == 0 { 1.0 } else { -1.0 };
                }
            }
            let [p, q, r] = turned.map(|m| self.rest_positions[corners[m] as usize]);
            let warp = warp_in_face(&(q - p), &(r - p), &warp);
            energies.push(KoiterFace { normals, edges: rules, membrane, stiffness, warp });
            nodes.push(stencil);
        }
        if normals.has_edge_angles() {
            builder.add::<_, 21, 9>(Role::Elastic, energies, nodes);
        } else {
            let points = nodes.iter().map(|n| std::array::from_fn(|k| n[k])).collect();
            builder.add::<_, 18, 6>(Role::Elastic, energies, points);
        }
    }

    fn corner_across_longest_edge(&self, corners: &[u32; 3]) -> usize {
        let p = corners.map(|v| self.rest_positions[v as usize]);
        let across = |m: usize| (p[(m + 1) % 3] - p[(m + 2) % 3]).norm_squared();
        (1..3).fold(0, |best, m| if across(m) > across(best) { m } else { best })
    }

    fn add_hinges(&self, builder: &mut ModelBuilder, base: u32, clamped: &[bool], k_bend: f64) {
        let mut energies = Vec::new();
        let mut nodes = Vec::new();
        for (_, edge) in self.topology.interior_edges() {
            let ([Some(f0), Some(f1)], [Some(c), Some(d)]) = (edge.faces, edge.opposite) else {
                continue;
            };
            let [a, b] = edge.vertices;
            // The clamped face goes second; both clamped do not bend.
            let stencil = match (clamped[f0 as usize], clamped[f1 as usize]) {
                (true, true) => continue,
                (true, false) => [d, b, a, c],
                _ => [c, a, b, d],
            };
            let clamped = clamped[f0 as usize] || clamped[f1 as usize];
            energies.push(HingeBend { stiffness: k_bend, clamped });
            nodes.push(stencil.map(|v| base + v));
        }
        builder.add::<_, 12, 4>(Role::Elastic, energies, nodes);
    }

    fn check(&self) -> Result<(), SimError> {
        self.material.check()?;
        let n = self.topology.vertex_count();
        for list in [&self.positions, &self.rest_positions] {
            if list.len() != n {
                return Err(SimError::RestMismatch { rest: list.len(), mesh: n });
            }
            if let Some(vertex) = list.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
                return Err(SimError::NotFinite { vertex });
            }
        }
        if !(self.areal_density >= 0.0 && self.areal_density.is_finite()) {
            return Err(SimError::BadParameter {
                what: "areal_density",
                value: self.areal_density,
                must: "zero or a positive number",
            });
        }
        if !(0.0..=MOST_DAMPING).contains(&self.damping) {
            return Err(SimError::BadParameter {
                what: "damping",
                value: self.damping,
                must: "zero or a positive number of seconds, a million at most",
            });
        }
        let sewn = self.seams.iter().flat_map(|s| [s.vertex, s.edge[0], s.edge[1]]);
        if let Some(pin) = self.pins.iter().copied().chain(sewn).find(|p| *p as usize >= n) {
            return Err(SimError::NoSuchVertex { vertex: pin as usize, count: n });
        }
        if let Some(bad) = self.seams.iter().find(|s| !(0.0..=1.0).contains(&s.weight)) {
            let must = "between 0 (the first end of the edge) and 1 (the second)";
            return Err(SimError::BadParameter {
                what: "the weight of a stitch",
                value: bad.weight,
                must,
            });
        }
        for (face, corners) in self.topology.faces().iter().enumerate() {
            let p = corners.map(|v| self.rest_positions[v as usize]);
            let area = triangle_area(&p);
            let longest =
                (0..3).map(|i| (p[(i + 1) % 3] - p[i]).norm_squared()).fold(0.0, f64::max);
            if area <= 1e-9 * longest || area.is_nan() {
                return Err(SimError::FlatRestFace { face, area });
            }
        }
        Ok(())
    }

    /// The connectivity with the seams.
    pub fn sewn_topology(&self) -> Topology {
        self.topology.clone().with_sewn(self.seams.iter().flat_map(Stitch::pairs))
    }

    /// Refuses a piece of cloth that no pin holds: it would fall for ever.
    pub fn check_support(&self) -> Result<(), SimError> {
        let n = self.topology.vertex_count();
        let components = self.sewn_topology().components();
        let mut held = vec![false; components.count];
        let mut size = vec![0; components.count];
        for v in 0..n {
            if let Some(c) = components.of_vertex[v] {
                size[c as usize] += 1;
            }
        }
        for &pin in &self.pins {
            if let Some(c) = components.of_vertex[pin as usize] {
                held[c as usize] = true;
            }
        }
        if let Some(c) = held.iter().position(|h| !h) {
            let of = |v: &usize| components.of_vertex[*v] == Some(c as u32);
            let vertex = (0..n).find(of).unwrap_or(0);
            return Err(SimError::FreeFall { vertex, size: size[c] });
        }
        Ok(())
    }
}

/// Coordinates of the projection of `warp` on the face in the basis (e1, e2); e1 when `warp` is normal to
/// the face.
fn warp_in_face(e1: &Vec3, e2: &Vec3, warp: &Vec3) -> [f64; 2] {
    let (a, b, c) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
    let (p, q) = (warp.dot(e1), warp.dot(e2));
    let det = a * c - b * b;
    let w = [(c * p - b * q) / det, (a * q - b * p) / det];
    let along = *e1 * w[0] + *e2 * w[1];
    if along.norm() > 1e-6 * warp.norm() { w } else { [1.0, 0.0] }
}
