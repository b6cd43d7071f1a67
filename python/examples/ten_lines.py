"""Ten lines: hang a sheet by two corners, and prove that it hangs. Lowest point: about −1.003 m."""

import toile

sheet = toile.Shell(
    mesh={"generate": "sheet", "n": 9, "size": 1.0},
    thickness=1e-3,
    areal_density=0.2,
    material=toile.Koiter(young=1e6, poisson=0.3),
    pins=[72, 80],
)
hanging = toile.drape(toile.Scene([sheet]))
print(hanging.certificate["verdict"], hanging.positions()[:, 2].min())

assert hanging.certified
