import subprocess

import numpy as np
import pytest
from conftest import KOITER, grid

import toile


def test_a_sheet_hangs_as_drawn():
    """Drape a sheet, forget how it was made, and get it back."""
    flat = toile.Shell(mesh=grid(5, 4, 0.5, 0.4), pins=[0, 5], **KOITER)
    hanging = toile.drape(toile.Scene([flat]))
    target = toile.Shell(mesh=(hanging.positions(), hanging.faces()), pins=[0, 5], **KOITER)
    seen = []
    found = toile.invert(toile.Scene([target]), drift=0.0, progress=seen.append)
    assert found.certified, found.reason
    assert found.certificate["target_error_max"] < 1e-4
    assert found.naive_positions().shape == (30, 3) and found.certificate["naive_sag"] > 1e-3
    assert {s["phase"] for s in seen} >= {"weight"}
    # What was found, made and hung up, hangs as drawn.
    made = toile.Shell(mesh=(found.positions(), found.faces()), rest=found.rest_positions(), pins=[0, 5], **KOITER)
    again = toile.drape(toile.Scene([made]))
    assert again.certified and np.abs(again.positions() - hanging.positions()).max() < 1e-4


def test_a_skirt_is_held_by_friction_alone(skirt):
    found = toile.invert(skirt, drift=0.05, naive_sag=False)
    assert found.certified, found.reason
    assert found.naive_positions() is None
    assert found.certificate["cone_gap"] <= 1e-8 and found.certificate["cone_margin"] > 0
    contacts = found.contacts()
    up = sum(c["force"][2] for c in contacts)
    assert len(contacts) > 20 and up > 0


def test_the_command_line_inverts_to_the_same_certificate(tmp_path, command):
    demo = tmp_path / "demo"
    scene = tmp_path / "scene.toml"
    scene.write_text(
        """
        [[shell]]
        mesh = { generate = "strip", length = 0.2, width = 0.05, nx = 8, ny = 2 }
        thickness = 1e-3
        areal_density = 0.2
        material = { model = "koiter", young = 1e8, poisson = 0.3 }
        pins = { box = [[-0.01, -1, -1], [0.03, 1, 1]] }
        """
    )
    run = subprocess.run([command, "invert", scene, "--out", demo, "--quiet"], stderr=subprocess.DEVNULL)
    assert run.returncode == 0
    assert toile.invert(scene).certificate_json + "\n" == (demo / "certificate.json").read_text()


def test_interrupting_an_inversion_raises(skirt):
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toile.invert(skirt, progress=stop)
