use toile_cone::{BandedMass, MassInverse};

#[test]
fn a_chain_is_solved_and_an_indefinite_one_refused() {
    let n = 50;
    let chain = |diagonal: f64| {
        let entries = (0..n).flat_map(move |i| {
            let near = (i > 0).then(|| (i, i - 1, -1.0));
            let far = (i > 2).then(|| (i, i - 3, 0.3));
            [Some((i, i, diagonal)), near, far].into_iter().flatten()
        });
        BandedMass::new(n, 3, entries)
    };
    let mass = chain(3.0).unwrap();
    let mut x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    let exact = x.clone();
    let at = |i: i64| if (0..n as i64).contains(&i) { exact[i as usize] } else { 0.0 };
    for i in 0..n as i64 {
        let near = at(i - 1) + at(i + 1);
        x[i as usize] = 3.0 * at(i) - near + 0.3 * (at(i - 3) + at(i + 3));
    }
    mass.solve(&mut x);
    assert!(x.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-13));
    assert!(chain(0.5).is_none());
    assert!(BandedMass::new(3, 1, [(2, 0, 1.0)]).is_none());
}
