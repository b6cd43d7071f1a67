"""Blender add-on: make a drawn garment stay as drawn.

Select one or more bodies, then the garment last (it becomes active), and run *Object → Toile: find rest shape*. The rest shape comes back as
the shape key "toile rest": made that way, the garment hangs as it was drawn, held by friction and by the vertices of the group
"toile pins" if there is one. The shape key "toile equilibrium" is where it then comes to rest.

Install it by *Edit → Preferences → Add-ons → Install from Disk…*. It uses the Python package `toile` if Blender's Python has it, and the command
`toile` on the path otherwise.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile

import bpy
import numpy as np

bl_info = {
    "name": "Toile: garments that stay as drawn",
    "author": "the toile developers",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "Object menu, and Properties → Object → Toile",
    "description": "Finds the rest shape for which a drawn garment is at rest under gravity and dry friction",
    "category": "Physics",
}

PINS = "toile pins"
REST = "toile rest"
EQUILIBRIUM = "toile equilibrium"


class ToileSettings(bpy.types.PropertyGroup):
    """Cloth and contact, in SI units."""

    thickness: bpy.props.FloatProperty(name="Thickness [m]", default=1e-3, min=1e-6, precision=5)
    areal_density: bpy.props.FloatProperty(name="Density [kg/m²]", default=0.2, min=1e-4, precision=3)
    young: bpy.props.FloatProperty(name="Young's modulus [Pa]", default=2e6, min=1.0)
    poisson: bpy.props.FloatProperty(name="Poisson's ratio", default=0.3, min=-0.99, max=0.499)
    bending: bpy.props.FloatProperty(
        name="Bending [N·m]", default=0.0, min=0.0, precision=7, description="0 takes it from Young's modulus and thickness"
    )
    friction: bpy.props.FloatProperty(name="Friction", default=0.5, min=0.0)
    gap: bpy.props.FloatProperty(name="Contact distance [m]", default=1e-3, min=1e-6, precision=5)
    contact_tolerance: bpy.props.FloatProperty(
        name="Touch within [m]", default=0.0, min=0.0, precision=5,
        description="vertices at most this much farther than the contact distance touch the body; 0 chooses from how far off it is drawn",
    )


def triangles(mesh: bpy.types.Mesh) -> np.ndarray:
    """Faces of a mesh cut into triangles, over its own vertices."""
    mesh.calc_loop_triangles()
    faces = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", faces)
    return faces.reshape(-1, 3).astype(np.int64)


def coordinates(vertices) -> np.ndarray:
    found = np.empty(3 * len(vertices), dtype=np.float32)
    vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(np.float64)


def to_metres(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and offset from an object's own coordinates to metres in the world."""
    world = np.array(obj.matrix_world, dtype=np.float64)
    scale = scene.unit_settings.scale_length
    return scale * world[:3, :3], scale * world[:3, 3]


def pins(obj: bpy.types.Object) -> list[int]:
    group = obj.vertex_groups.get(PINS)
    if group is None:
        return []
    held = (v for v in obj.data.vertices if any(g.group == group.index and g.weight > 0.5 for g in v.groups))
    return [v.index for v in held]


def find(parts: dict) -> dict:
    """Inverts by the package, or by the command; arrays in, arrays out."""
    try:
        import toile
    except ImportError:
        toile = None
    if toile is not None:
        shell = toile.Shell(parts["garment"], **parts["shell"])
        colliders = [toile.Collider(mesh=body, **parts["contact"]) for body in parts["bodies"]]
        found = toile.invert(toile.Scene([shell], colliders, invert=parts["invert"]))
        return {"certificate": found.certificate, "rest": found.rest_positions(), "equilibrium": found.positions()}
    command = shutil.which("toile")
    if command is None:
        raise RuntimeError("neither the Python package toile nor the command toile was found; install one of them")
    with tempfile.TemporaryDirectory() as folder:
        return by_command(command, folder, parts)


def by_command(command: str, folder: str, parts: dict) -> dict:
    def write(name: str, mesh: tuple[np.ndarray, np.ndarray]) -> str:
        with open(os.path.join(folder, name), "w", encoding="ascii") as out:
            out.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in mesh[0].tolist())
            out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in mesh[1].tolist())
        return name

    def read(name: str) -> np.ndarray:
        with open(os.path.join(folder, "out", name), encoding="utf-8") as lines:
            return np.array([[float(w) for w in line.split()[1:4]] for line in lines if line.startswith("v ")])

    shell = dict(parts["shell"], mesh=write("garment.obj", parts["garment"]))
    if "pins" in shell:
        shell["pins"] = {"vertices": shell["pins"]}
    bodies = [dict(parts["contact"], mesh=write(f"body_{i}.obj", b)) for i, b in enumerate(parts["bodies"])]
    scene = os.path.join(folder, "scene.json")
    with open(scene, "w", encoding="utf-8") as out:
        json.dump({"shell": [shell], "collider": bodies, "invert": parts["invert"]}, out)
    run = subprocess.run(
        [command, "invert", scene, "--out", os.path.join(folder, "out"), "--quiet"], capture_output=True, text=True
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stderr.strip() or f"toile ended with code {run.returncode}")
    with open(os.path.join(folder, "out", "certificate.json"), encoding="utf-8") as file:
        certificate = json.load(file)
    return {"certificate": certificate, "rest": read("rest.obj"), "equilibrium": read("equilibrium.obj")}


def set_key(obj: bpy.types.Object, name: str, local: np.ndarray) -> None:
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.data.shape_keys.key_blocks.get(name) or obj.shape_key_add(name=name, from_mix=False)
    key.data.foreach_set("co", local.astype(np.float32).ravel())
    key.value = 0.0


class OBJECT_OT_toile_invert(bpy.types.Operator):
    """Find the rest shape for which the active garment stays as drawn on the other selected objects"""

    bl_idname = "object.toile_invert"
    bl_label = "Toile: find rest shape"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and context.object is not None and context.object.type == "MESH"

    def execute(self, context: bpy.types.Context) -> set[str]:
        garment, settings = context.object, context.scene.toile
        linear, offset = to_metres(garment, context.scene)
        if abs(np.linalg.det(linear)) < 1e-30:
            self.report({"ERROR"}, "the garment is scaled to nothing")
            return {"CANCELLED"}
        graph = context.evaluated_depsgraph_get()
        bodies = []
        for other in context.selected_objects:
            if other is garment or other.type != "MESH":
                continue
            seen = other.evaluated_get(graph)
            mesh = seen.to_mesh()
            turn, move = to_metres(other, context.scene)
            bodies.append((coordinates(mesh.vertices) @ turn.T + move, triangles(mesh)))
            seen.to_mesh_clear()
        shell = {
            "thickness": settings.thickness,
            "areal_density": settings.areal_density,
            "material": {"model": "koiter", "young": settings.young, "poisson": settings.poisson},
        }
        if settings.bending > 0:
            shell["material"]["bending"] = settings.bending
        held = pins(garment)
        if held:
            shell["pins"] = held
        parts = {
            "garment": (coordinates(garment.data.vertices) @ linear.T + offset, triangles(garment.data)),
            "shell": shell,
            "bodies": bodies,
            "contact": {"friction": settings.friction, "gap": settings.gap},
            "invert": {"contact_tolerance": settings.contact_tolerance} if settings.contact_tolerance > 0.0 else {},
        }
        try:
            found = find(parts)
        except (RuntimeError, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        back = np.linalg.inv(linear).T
        for name, points in ((REST, found["rest"]), (EQUILIBRIUM, found["equilibrium"])):
            set_key(garment, name, (points - offset) @ back)
        certificate = found["certificate"]
        garment["toile certificate"] = json.dumps(certificate)
        good = certificate["verdict"] == "certified"
        self.report({"INFO"} if good else {"WARNING"}, f"{certificate['verdict']}: {certificate['reason']}")
        return {"FINISHED"}


class OBJECT_PT_toile(bpy.types.Panel):
    bl_label = "Toile"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"

    def draw(self, context: bpy.types.Context) -> None:
        for name in ToileSettings.__annotations__:
            self.layout.prop(context.scene.toile, name)
        self.layout.operator(OBJECT_OT_toile_invert.bl_idname)
        told = context.object and context.object.get("toile certificate")
        if told:
            self.layout.label(text=json.loads(told)["verdict"])


def menu(self, context: bpy.types.Context) -> None:
    self.layout.operator(OBJECT_OT_toile_invert.bl_idname)


CLASSES = (ToileSettings, OBJECT_OT_toile_invert, OBJECT_PT_toile)


def register() -> None:
    for c in CLASSES:
        bpy.utils.register_class(c)
    bpy.types.Scene.toile = bpy.props.PointerProperty(type=ToileSettings)
    bpy.types.VIEW3D_MT_object.append(menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(menu)
    del bpy.types.Scene.toile
    for c in reversed(CLASSES):
        bpy.utils.unregister_class(c)


if __name__ == "__main__":
    register()
