use crate::reference::{Table, assert_relative};
use toile_validate::kirchhoff::bend_twist_threshold;

#[test]
fn thresholds_match_the_reference_table() {
    let Some(table) = Table::read("5_instability/bend_twist_boundary.csv") else { return };
    let column = |name| table.column(name);
    let (ratio, gamma) = (column("GJ_over_EI"), column("Gamma"));
    let (critical, tip) = (column("kappa_n_L_critical"), column("tip_angle_from_vertical_rad"));
    let rows: Vec<usize> = (0..gamma.len()).filter(|i| gamma[*i] < 3000.0).step_by(3).collect();
    assert!(rows.len() > 2);
    for i in rows {
        let (found, angle) = bend_twist_threshold(gamma[i], ratio[i], 60.0).unwrap();
        assert_relative(found, critical[i], 1e-5, &format!("Γ = {}", gamma[i]));
        assert_relative(angle, tip[i], 1e-4, &format!("tip at Γ = {}", gamma[i]));
    }
}
