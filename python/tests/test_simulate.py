import numpy as np
import pytest
from conftest import KOITER, grid

import toile


def falling(**time) -> toile.Scene:
    vertices, faces = grid(4, 4, 0.2, 0.2)
    vertices[:, 2] = 0.05
    floor = toile.Collider(plane={"point": [0, 0, 0]}, friction=0.4)
    shell = toile.Shell(mesh=(vertices, faces), velocity=[0.5, 0, 0], **KOITER)
    return toile.Scene([shell], [floor], time=toile.Time(**time))


def test_frames_come_one_by_one():
    frames = list(toile.simulate(falling(step=0.01, duration=0.1, frame=0.05)))
    assert [f.index for f in frames] == [0, 1, 2]
    assert np.allclose([f.time for f in frames], [0, 0.05, 0.1])
    assert len(frames[1].steps) == 5
    # Free fall for 0.05 s, and a glide.
    moved = frames[1].positions - frames[0].positions
    assert np.allclose(moved[:, 0], 0.025) and np.all(moved[:, 2] < -0.01)
    assert frames[1].kinetic_energy > 0


def test_cloth_comes_to_rest_on_the_floor():
    last, still = None, None
    for last in toile.simulate(falling(step=0.01, duration=0.6, frame=0.1)):
        contacts = last.contacts()
    assert contacts and all(c["force"][2] >= 0 for c in contacts)
    assert {c["status"] for c in contacts} == {"stick"}
    assert last.kinetic_energy < 1e-12
    assert abs(last.positions[:, 2].min() - 1e-3) < 1e-4
    assert still is None


def test_progress_can_stop_and_a_scene_needs_time(hanging):
    seen = []
    frames = toile.simulate(falling(step=0.01, duration=1.0), progress=lambda s: seen.append(s) or len(seen) < 3)
    assert len(list(frames)) == 3 and seen[-1]["step"] == 3
    with pytest.raises(toile.ToileError, match="time"):
        toile.simulate(hanging)


def test_the_same_motion_twice_is_the_same_to_the_bit():
    ends = [[f.positions for f in toile.simulate(falling(step=0.01, duration=0.15))][-1] for _ in range(2)]
    assert np.array_equal(*ends)
