import subprocess

import numpy as np
import pytest

import toile

MATERIAL = dict(bending_stiffness=[1e-6, 1e-6], twisting_stiffness=7e-7, linear_density=2e-5)


def test_a_rod_hangs():
    clamp = dict(position=[0, 0, 0], d1=[0, 0, 1], d2=[0, -1, 0], d3=[1, 0, 0])
    rod = toile.Rod(length=0.2, clamp=clamp, elements=10, **MATERIAL)
    (found,) = toile.drape(toile.Scene(rods=[rod]))
    assert found.certified
    x = found.positions(31)
    assert x.shape == (31, 3) and np.allclose(x[0], 0) and x[-1, 2] < -0.03
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    assert abs(lengths.sum() - 0.2) < 1e-3


def test_a_drawn_fibre_gets_its_nature_from_an_array():
    s = np.linspace(0, 0.1, 60)
    drawn = np.stack([0.02 * np.sin(20 * s), 0.02 * (1 - np.cos(20 * s)), -0.8 * s], axis=1)
    (found,) = toile.invert(toile.Scene(rods=[toile.Rod(curve=drawn, elements=20, **MATERIAL)]))
    assert found.certified, found.certificate["reason"]
    assert np.linalg.norm(found.positions(2)[1] - drawn[-1]) < 1e-3
    assert found.natural.shape[1] == 3


def test_hair_comes_as_arrays():
    s = np.linspace(0, 0.05, 20)
    strands = [np.stack([0.01 * k + 0 * s, 0.2 * s**1.5, -s], axis=1) for k in range(3)]
    found = toile.invert(toile.Scene(hair=[toile.Hair(strands, elements=8, **MATERIAL)]))
    assert len(found) == 3 and all(f.certified for f in found)


def test_a_rod_comes_to_rest_on_a_floor():
    clamp = dict(position=[0, 0, 0.03], d1=[0, 1, 0], d2=[0, 0, 1], d3=[1, 0, 0])
    rod = toile.Rod(length=0.3, clamp=clamp, elements=12, radius=1e-3, accuracy=0, **MATERIAL)
    floor = toile.Collider(plane={"point": [0, 0, 0]}, friction=0.4, gap=0.0)
    steps = []
    found = toile.drape(toile.Scene(rods=[rod], colliders=[floor]), drift=0.2, progress=steps.append)
    assert found.certified, found.reason
    # It falls first, then it is watched.
    falls = [now["step"] for now in steps if "step" in now]
    assert found.certificate["drift"] < 1e-4 and falls[-1] > 10
    assert steps[-1]["doing"] == "watching" and 0 < steps[-1]["part"] <= 1
    contacts = found.contacts()
    assert contacts and all(c["kind"] == "collider" and c["force"][2] > 0 for c in contacts)
    # The floor carries a part of the weight, the clamp the rest.
    assert 0 < sum(c["force"][2] for c in contacts) < 0.3 * 2e-5 * 9.81
    assert found[0].positions()[:, 2].min() > 0.9e-3


def drawn_on_a_ball():
    """Two strands that lie on a ball, from its top down its sides."""
    angles = np.linspace(0.0, 1.6, 40)
    r = 0.1 + 1e-3 + 0.5e-3
    ring = [np.stack([r * np.sin(angles), 0 * angles, r * np.cos(angles)], axis=1)]
    ring.append(ring[0][:, [1, 0, 2]])
    hair = toile.Hair(ring, elements=12, radius=0.5e-3, bending_stiffness=[1e-5, 1e-5], twisting_stiffness=7e-6, linear_density=2e-5)
    ball = toile.Collider(sphere={"center": [0, 0, 0], "radius": 0.1}, friction=0.5)
    return dict(hair=[hair], colliders=[ball])


def test_hair_in_contact_is_inverted_as_by_the_command(tmp_path, command):
    scene = toile.Scene(**drawn_on_a_ball())
    found = toile.invert(scene)
    assert len(found) == 2 and found.certified, found.reason
    assert found.certificate["contacts"] == len(found.contacts()) > 0
    assert {c["status"] for c in found.contacts()} == {"stick"}
    assert found.certificate["drift"] < 1e-4
    # The same strands in a file.
    lines, count = [], 0
    for strand in drawn_on_a_ball()["hair"][0].strands:
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in strand.tolist()]
        lines.append("l " + " ".join(str(count + i + 1) for i in range(len(strand))))
        count += len(strand)
    (tmp_path / "hair.obj").write_text("\n".join(lines) + "\n")
    (tmp_path / "scene.toml").write_text("""
        [[hair]]
        strands = "hair.obj"
        elements = 12
        radius = 0.5e-3
        bending_stiffness = [1e-5, 1e-5]
        twisting_stiffness = 7e-6
        linear_density = 2e-5

        [[collider]]
        sphere = { center = [0, 0, 0], radius = 0.1 }
        friction = 0.5
    """)
    done = subprocess.run([command, "invert", tmp_path / "scene.toml", "--out", tmp_path / "out", "--quiet"])
    assert done.returncode == 0
    assert (tmp_path / "out" / "certificate.json").read_text() == found.certificate_json + "\n"
    alone = toile.invert(toile.Scene(hair=drawn_on_a_ball()["hair"]))
    assert alone.contacts() == [] and alone.certificate["cone_gap"] is None


def test_progress_ends_the_watching_of_fibres():
    cut = toile.invert(toile.Scene(**drawn_on_a_ball()), progress=lambda step: step["part"] < 0.2)
    assert not cut.certified and "not watched to the end" in cut.reason


def test_a_fibre_swings_and_falls_on_a_ball():
    clamp = dict(position=[-0.1, 0, 0.06], d1=[0, 1, 0], d2=[0, 0, 1], d3=[1, 0, 0])
    rod = toile.Rod(length=0.3, clamp=clamp, elements=12, **MATERIAL)
    ball = toile.Collider(sphere={"center": [0, 0, 0], "radius": 0.05}, friction=0.3)
    scene = toile.Scene(rods=[rod], colliders=[ball], time=toile.Time(step=2e-3, duration=0.4, frame=0.1, damping=2.0))
    touched, frames = False, []
    for frame in toile.simulate(scene):
        touched |= any(c["kind"] == "collider" for c in frame.contacts())
        frames.append(frame)
    assert [f.index for f in frames] == [0, 1, 2, 3, 4] and touched
    assert np.allclose(frames[0].positions[0], clamp["position"])
    assert frames[0].kinetic_energy == 0 < frames[1].kinetic_energy
    total = [f.kinetic_energy + f.potential_energy for f in frames]
    assert all(b < a for a, b in zip(total, total[1:])), "drag and friction take energy"
    assert np.linalg.norm(frames[-1].positions, axis=1).min() > 0.0514, "outside the ball"
    again = list(toile.simulate(scene))[-1].positions
    assert np.array_equal(again, frames[-1].positions), "the same bits"


def test_hair_moves_as_drawn_and_bad_calls_are_told():
    scene = toile.Scene(**drawn_on_a_ball(), time=toile.Time(step=1e-3, duration=3e-3))
    frames = list(toile.simulate(scene))
    assert len(frames) == 4 and len(frames[0].shells) == 2
    assert np.abs(frames[-1].positions - frames[0].positions).max() < 1e-4
    with pytest.raises(toile.ToileError, match="time"):
        toile.simulate(toile.Scene(**drawn_on_a_ball()))


def test_drawn_hair_comes_to_rest_on_what_it_touches():
    rested = toile.drape(toile.Scene(**drawn_on_a_ball()))
    assert rested.certified, rested.reason
    assert rested.certificate["contacts"] > 0 and rested.certificate["cone_margin"] > 0


def test_hair_through_the_head_is_pushed_out_when_asked():
    # From beside the ball through its upper part, 2 cm deep.
    s = np.linspace(-0.14, 0.14, 60)
    strand = np.stack([s, 0.01 + 0 * s, 0.08 + 0.1 * s], axis=1)
    hair = toile.Hair([strand], elements=12, radius=0.5e-3, bending_stiffness=[1e-5, 1e-5], twisting_stiffness=7e-6, linear_density=2e-5)
    ball = toile.Collider(sphere={"center": [0, 0, 0], "radius": 0.1}, friction=0.5)
    scene = toile.Scene(hair=[hair], colliders=[ball], time=toile.Time(step=1e-3, duration=2e-3))
    with pytest.raises(toile.ToileError, match="push"):
        list(toile.simulate(scene))
    with pytest.raises(toile.ToileError, match="push"):
        toile.invert(scene)
    first = next(iter(toile.simulate(scene, push_out=True)))
    assert np.allclose(first.positions[0], strand[0]), "roots stay"
    assert np.linalg.norm(first.positions, axis=1).min() > 0.1, "outside the ball"
    found = toile.invert(scene, push_out=True, drift=0)
    assert len(found) == 1 and np.linalg.norm(found[0].positions(), axis=1).min() > 0.1


def test_a_drawn_strand_is_compared_with_the_rest_it_came_with():
    s = np.linspace(0, 0.1, 40)
    drawn = [np.stack([0.3 * s, 0 * s, -s], axis=1)]
    straight = [np.stack([0.5 * s, 0 * s, -0.9 * s], axis=1)]
    material = dict(elements=10, **MATERIAL)
    found = toile.invert(toile.Scene(hair=[toile.Hair(drawn, rest=straight, **material)]))
    assert found.certified, found.reason
    told = found.certificate
    assert told["rest_fibres"] == 1 and told["rest_residual"] > 0 and told["rest_position_rms"] > 0
    with pytest.raises(toile.ToileError, match="rest"):
        toile.invert(toile.Scene(hair=[toile.Hair(drawn, rest=straight * 2, **material)]))
