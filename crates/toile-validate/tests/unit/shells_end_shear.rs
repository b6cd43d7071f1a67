use crate::reference::Table;
use toile_validate::shells::{Settings, end_shear};

#[test]
fn end_shear_follows_the_elastica() {
    let settings = Settings { resolutions: vec![10, 20], levels: 10, ..Settings::default() };
    let case = end_shear(&settings).unwrap();
    assert!(case.verdict().worst < 4e-3, "{}", case.verdict());
    assert!((case.orders()[0] - 2.0).abs() < 0.4, "order {:?}", case.orders());
}

#[test]
fn end_shear_follows_the_given_shell_table() {
    let Some(table) = Table::read("6_shells/sze31_cantilever_end_shear.csv") else { return };
    let columns = ["minus_U_tip_KLshell", "W_tip_KLshell"].map(|name| table.column(name));
    let settings = Settings { resolutions: vec![20], ..Settings::default() };
    let mut case = end_shear(&settings).unwrap();
    for (i, point) in case.runs[0].points.iter_mut().enumerate() {
        let given = [columns[0][i], columns[1][i]];
        // Our reference does not stretch, the given one does.
        for k in 0..2 {
            assert!((point.expected[k] / given[k] - 1.0).abs() < 1e-4, "{point:?}, {given:?}");
        }
        point.expected = given;
    }
    assert!(case.verdict().worst < 4e-3, "{}", case.verdict());
}
