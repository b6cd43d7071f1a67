"""The add-on in a headless Blender: needs the package `bpy` (a Blender as a Python module) beside the wheel or the command.

    pip install bpy pytest toile-*.whl && pytest python/blender
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import toile_addon  # noqa: E402

AROUND, ALONG = 24, 6
GAP = 1e-3


def frustum(rows, radius, slope, shift):
    """Quads of a cone frustum; radii grow by `slope` on the way down, moved out by `shift` across the wall."""
    out = shift / np.cos(np.arctan(slope))
    vertices, faces = [], []
    for j, z in enumerate(rows):
        for i in range(AROUND):
            a = 2 * np.pi * i / AROUND
            r = radius - slope * z + out
            vertices.append((r * np.cos(a), r * np.sin(a), z))
        for i in range(AROUND if j else 0):
            a, b = (j - 1) * AROUND + i, (j - 1) * AROUND + (i + 1) % AROUND
            faces.append((a, a + AROUND, b + AROUND, b))
    return vertices, faces


def add(name, vertices, faces, centimetres=False):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(100 * c for c in v) if centimetres else v for v in vertices], [], faces)
    obj = bpy.data.objects.new(name, mesh)
    if centimetres:
        obj.scale = (0.01, 0.01, 0.01)
    bpy.context.scene.collection.objects.link(obj)
    return obj


@pytest.fixture
def drawn():
    """A skirt on a body, made in Blender: quads, the skirt in centimetres with an object scale, standing off the origin."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    toile_addon.register()
    bodies = frustum(np.linspace(0.1, -0.5, 13), 0.2, 1 / 3, 0.0)
    top, bottom = list(range(AROUND)), list(range(12 * AROUND, 13 * AROUND))
    body = add("body", bodies[0], [*bodies[1], tuple(top), tuple(reversed(bottom))])
    # The waist lies on the body, below it the skirt flares off.
    vertices, faces = frustum(np.linspace(0.0, -0.3, ALONG + 1), 0.2, 1 / 3, GAP)
    for k, (x, y, z) in enumerate(vertices):
        flare = 1 + 1.2 * max(0.0, -z - 0.1)
        vertices[k] = (x * flare, y * flare, z)
    skirt = add("skirt", vertices, faces, centimetres=True)
    for obj in (body, skirt):
        obj.location.x += 1.0
    bpy.context.view_layer.update()
    settings = bpy.context.scene.toile
    settings.young, settings.thickness, settings.areal_density = 2e6, 2e-3, 0.3
    settings.friction, settings.gap = 0.7, GAP
    # The body is a polygon of so many sides: its faces lie inside the circle.
    settings.contact_tolerance = 3e-3
    yield skirt, body
    toile_addon.unregister()


def select(garment, *bodies):
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in (garment, *bodies))
    bpy.context.view_layer.objects.active = garment


def world(obj, key):
    local = np.array([p.co[:] for p in obj.data.shape_keys.key_blocks[key].data], dtype=np.float64)
    turn, move = toile_addon.to_metres(obj, bpy.context.scene)
    return local @ turn.T + move


def test_a_drawn_skirt_gets_its_rest_shape_and_does_not_sag(drawn):
    toile = pytest.importorskip("toile")
    skirt, body = drawn
    select(skirt, body)
    assert bpy.ops.object.toile_invert() == {"FINISHED"}
    certificate = json.loads(skirt["toile certificate"])
    assert certificate["verdict"] == "certified", certificate["reason"]
    keys = skirt.data.shape_keys.key_blocks.keys()
    assert list(keys) == ["Basis", toile_addon.REST, toile_addon.EQUILIBRIUM]
    target, rest, rests = (world(skirt, k) for k in keys)
    size = certificate["size"]
    assert np.abs(rests - target).max() < 0.01 * size
    assert np.abs(rest - target).max() > 1e-4, "it must be made otherwise than drawn"
    # What Blender holds now, simulated for a while: it stays.
    s = bpy.context.scene.toile
    turn, move = toile_addon.to_metres(body, bpy.context.scene)
    shape = toile_addon.coordinates(body.data.vertices) @ turn.T + move
    scene = toile.Scene(
        [toile.Shell((rests, toile_addon.triangles(skirt.data)), s.thickness, s.areal_density,
                     toile.Koiter(s.young, s.poisson), rest=rest)],
        [toile.Collider(mesh=(shape, toile_addon.triangles(body.data)), friction=s.friction, gap=s.gap)],
        time=toile.Time(step=0.01, duration=0.3, frame=0.1),
    )
    moved = [np.abs(f.positions - rests).max() for f in toile.simulate(scene)]
    assert max(moved) < 1e-4 * size, moved


def test_the_command_gives_the_same_keys(drawn, monkeypatch):
    skirt, body = drawn
    root = pathlib.Path(__file__).resolve().parents[2]
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release"
    if not (built / "toile").is_file():
        pytest.skip("the command line is not built")
    select(skirt, body)
    pytest.importorskip("toile")
    bpy.ops.object.toile_invert()
    by_package = world(skirt, toile_addon.REST)
    monkeypatch.setenv("PATH", f"{built}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setitem(sys.modules, "toile", None)
    assert bpy.ops.object.toile_invert() == {"FINISHED"}
    assert np.array_equal(world(skirt, toile_addon.REST), by_package)


def test_a_garment_that_nothing_holds_is_told(drawn):
    skirt, _ = drawn
    select(skirt)
    with pytest.raises(RuntimeError, match="pinned|collider|holds"):
        bpy.ops.object.toile_invert()


def test_pins_come_from_a_vertex_group(drawn):
    pytest.importorskip("toile")
    skirt, _ = drawn
    group = skirt.vertex_groups.new(name=toile_addon.PINS)
    group.add(list(range(2 * AROUND)), 1.0, "REPLACE")
    assert toile_addon.pins(skirt) == list(range(2 * AROUND))
    select(skirt)
    assert bpy.ops.object.toile_invert() == {"FINISHED"}
    assert json.loads(skirt["toile certificate"])["verdict"] == "certified"


def test_blender_plays_an_exported_point_cache(tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    command = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release" / "toile"
    if not command.is_file():
        pytest.skip("the command line is not built")
    (tmp_path / "scene.toml").write_text(
        "[[shell]]\nmesh = { generate = \"sheet\", n = 7, size = 0.3 }\nthickness = 1e-3\nareal_density = 0.2\n"
        "material = { model = \"koiter\", young = 1e5, poisson = 0.3 }\npins = { vertices = [42, 48] }\n"
        "[time]\nstep = 0.01\nduration = 0.1\nframe = 0.05\n"
    )
    motion = tmp_path / "motion"
    subprocess.run([command, "simulate", tmp_path / "scene.toml", "--out", motion, "--quiet"], check=True)
    subprocess.run([command, "export", motion, "--format", "pc2", "--quiet"], check=True)
    subprocess.run([command, "export", motion, "--format", "mdd", "--quiet"], check=True)
    subprocess.run([command, "export", motion, "--format", "usda", "--quiet"], check=True)

    def points(file):
        return np.array([[float(w) for w in line.split()[1:4]] for line in open(file) if line.startswith("v ")])

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=str(motion / "shell.obj"), forward_axis="Y", up_axis="Z")
    cloth = bpy.context.selected_objects[0]
    modifier = cloth.modifiers.new("cache", "MESH_CACHE")
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    for kind in ("PC2", "MDD"):
        modifier.cache_format = kind
        modifier.filepath = str(motion / f"shell.{kind.lower()}")
        modifier.frame_start = 0.0
        for frame in range(3):
            bpy.context.scene.frame_set(frame)
            seen = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found = toile_addon.coordinates(seen.data.vertices)
            turn = np.array(cloth.matrix_world, dtype=np.float64)
            found = found @ turn[:3, :3].T + turn[:3, 3]
            assert np.abs(found - points(motion / f"frame_{frame:05}.obj")).max() < 1e-6, (kind, frame)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(motion / "shapes.usda"))
    assert any(o.type == "MESH" and len(o.data.vertices) == 49 for o in bpy.data.objects)
