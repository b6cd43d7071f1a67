"""The package itself: its stubs, its schema, its protocols."""

import ast
import inspect
import json
import pathlib

import pytest

import toile
from toile import _native

STUBS = pathlib.Path(toile.__file__).with_name("_native.pyi")


def parameters(node: ast.FunctionDef) -> list[str]:
    names = [a.arg for a in node.args.args + node.args.kwonlyargs]
    return [n for n in names if n != "self"]


def test_stubs_name_everything_that_is_there_with_its_parameters():
    tree = ast.parse(STUBS.read_text())
    told = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in vars(_native) if not name.startswith("_")}
    assert set(told) == there
    for name, node in told.items():
        real = getattr(_native, name)
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(real).parameters), name
            continue
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        public = {m for m in vars(real) if not m.startswith("_")} if name != "ToileError" else set()
        assert {m for m in methods if not m.startswith("_")} == public, name
        for method in public:
            found = getattr(real, method)
            if callable(found):
                names = [p for p in inspect.signature(found).parameters if p != "self"]
                assert parameters(methods[method]) == names, f"{name}.{method}"


def test_the_package_is_typed_and_has_its_version():
    assert STUBS.with_name("py.typed").exists()
    assert toile.__version__.count(".") == 2
    assert all(hasattr(toile, name) for name in toile.__all__)


def test_the_schema_knows_the_fields_of_the_dataclasses():
    schema = json.loads(toile.scene_schema())
    shell = schema["$defs"]["Shell"]["properties"]
    assert {f for f in toile.Shell.__dataclass_fields__} <= set(shell)
    assert {f for f in toile.Collider.__dataclass_fields__} <= set(schema["$defs"]["Collider"]["properties"])
    assert {f for f in toile.Time.__dataclass_fields__} <= set(schema["$defs"]["Time"]["properties"])
    assert {f for f in toile.Rod.__dataclass_fields__} <= set(schema["$defs"]["RodTable"]["properties"])
    assert {f for f in toile.Hair.__dataclass_fields__} <= set(schema["$defs"]["HairTable"]["properties"])


def test_a_protocol_runs():
    found = toile.validate("frequencies", quick=True)
    assert found["verdict"] == "OK", found["text"]
    assert found["csv"].count("\n") > 1
    with pytest.raises(toile.ToileError, match="cantilever"):
        toile.validate("alchemy")
