"""What `toile export` writes, read by others."""

import struct
import subprocess

import numpy as np
import pytest

SCENE = """
[[shell]]
mesh = { generate = "sheet", n = 5, size = 0.3 }
thickness = 1e-3
areal_density = 0.2
material = { model = "koiter", young = 1e5, poisson = 0.3 }
pins = { vertices = [20, 24] }
[time]
step = 0.01
duration = 0.1
frame = 0.025
"""


@pytest.fixture(scope="module")
def motion(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "scene.toml").write_text(SCENE.replace("0.025", "0.02"))
    subprocess.run([command, "simulate", folder / "scene.toml", "--out", folder / "motion", "--quiet"], check=True)
    return folder / "motion"


def points(motion, frame):
    with open(motion / f"frame_{frame:05}.obj") as lines:
        return np.array([[float(w) for w in line.split()[1:4]] for line in lines if line.startswith("v ")])


def export(command, motion, kind, *more):
    subprocess.run([command, "export", motion, "--format", kind, "--quiet", *more], check=True)


def test_pc2_is_what_its_description_says(command, motion):
    export(command, motion, "pc2")
    data = (motion / "shell.pc2").read_bytes()
    name, version, count, start, rate, samples = struct.unpack("<12siiffi", data[:32])
    assert (name, version, count, samples) == (b"POINTCACHE2\0", 1, 25, 6) and (start, rate) == (0, 1)
    found = np.frombuffer(data[32:], "<f4").reshape(samples, count, 3)
    for frame in range(samples):
        assert np.array_equal(found[frame], points(motion, frame).astype(np.float32))


def test_mdd_has_times(command, motion):
    export(command, motion, "mdd")
    data = (motion / "shell.mdd").read_bytes()
    samples, count = struct.unpack(">ii", data[:8])
    times = np.frombuffer(data[8 : 8 + 4 * samples], ">f4")
    assert np.allclose(times, [0, 0.02, 0.04, 0.06, 0.08, 0.1], atol=1e-7)
    found = np.frombuffer(data[8 + 4 * samples :], ">f4").reshape(samples, count, 3)
    assert np.array_equal(found[-1], points(motion, 5).astype(np.float32))


def test_usd_is_read_by_its_own_library(command, motion):
    usd = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    export(command, motion, "usda", "--up", "y", "--unit", "0.01")
    stage = usd.Stage.Open(str(motion / "shapes.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert stage.GetTimeCodesPerSecond() == pytest.approx(50)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/toile/shell"))
    assert len(mesh.GetFaceVertexCountsAttr().Get()) == 32
    codes = mesh.GetPointsAttr().GetTimeSamples()
    assert len(codes) == 6
    for frame, code in enumerate(codes):
        found = np.array(mesh.GetPointsAttr().Get(code))
        assert np.array_equal(found, points(motion, frame).astype(np.float32))
        low, high = np.array(mesh.GetExtentAttr().Get(code))
        assert np.allclose(low, found.min(0)) and np.allclose(high, found.max(0))


def test_vtk_series_is_read_by_others(command, motion):
    meshio = pytest.importorskip("meshio")
    import xml.etree.ElementTree as xml

    export(command, motion, "vtk")
    sets = xml.parse(motion / "shapes.pvd").getroot().findall("./Collection/DataSet")
    assert np.allclose([float(s.get("timestep")) for s in sets], [0, 0.02, 0.04, 0.06, 0.08, 0.1])
    for frame, entry in enumerate(sets):
        assert (motion / entry.get("file")).is_file(), frame
    # meshio reads PolyData only as legacy files, so the arrays are read here, as VTK writes them.
    import base64

    root = xml.parse(motion / sets[3].get("file")).getroot()
    array = root.find(".//Points/DataArray")
    raw = base64.b64decode(array.text)
    assert struct.unpack("<Q", raw[:8])[0] == len(raw) - 8
    assert np.array_equal(np.frombuffer(raw[8:]).reshape(-1, 3), points(motion, 3))
    assert meshio.__version__


def test_a_folder_without_shapes_is_told(command, tmp_path):
    run = subprocess.run([command, "export", tmp_path, "--format", "pc2"], capture_output=True, text=True)
    assert run.returncode == 2 and "frame_00000.obj" in run.stderr
