use toile_contact::{LayerPair, Layers, Span};
use toile_geometry::generate;

#[test]
fn every_pair_without_common_vertex_is_visited_once() {
    let mesh = generate::rectangle(1.0, 1.0, 4, 3, Default::default());
    let mut layers = Layers::new(&mesh.topology, &mesh.positions).unwrap();
    layers.refit(&[&mesh.positions], 10.0); // everything overlaps
    let at = |v: u32| Span::new(&mesh.positions[v as usize], &mesh.positions[v as usize], 10.0);
    let spread = layers.spread(at);
    let mut found = Vec::new();
    for leaf in 0..layers.leaf_count() {
        layers.pairs(leaf, &spread, |pair| found.push(pair));
    }
    found.sort_unstable();
    let mut expected = Vec::new();
    for (f, face) in mesh.faces().iter().enumerate() {
        for v in (0..mesh.positions.len() as u32).filter(|v| !face.contains(v)) {
            expected.push(LayerPair::VertexFace { vertex: v, face: f as u32 });
        }
    }
    let edges = mesh.topology.edges();
    for i in 0..edges.len() {
        for j in i + 1..edges.len() {
            if !edges[i].vertices.iter().any(|v| edges[j].vertices.contains(v)) {
                expected.push(LayerPair::EdgeEdge { first: i as u32, second: j as u32 });
            }
        }
    }
    expected.sort_unstable();
    assert_eq!(found, expected);
}
