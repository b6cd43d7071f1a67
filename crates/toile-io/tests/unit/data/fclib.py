"""Makes the FCLib files of tests/unit/fclib.rs with the reference library: python fclib.py, with h5py installed."""

import pathlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).parent
W = np.array(
    [
        [2, 0.5, 0, 0, 0, 0],
        [0.5, 3, 0, 0, 0.125, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 4, 0, 0],
        [0, 0.125, 0, 0, 2, 0],
        [0, 0, 0, 0, 0, 1],
    ],
    dtype=float,
)


def write(name, libver=None, **packed):
    """A local problem, compressed columns, with all that FCLib and Siconos put around it; the entries of W are packed."""
    with h5py.File(HERE / name, "w", libver=libver) as f:

        def put(group, name, value):
            group.create_dataset(name, data=np.atleast_1d(value))

        local = f.create_group("fclib_local")
        put(local, "spacedim", np.int32(3))
        w = local.create_group("W")
        columns, rows = np.nonzero(W.T)
        starts = np.concatenate([[0], np.cumsum(np.bincount(columns))])
        for key, value in {"nzmax": rows.size, "m": 6, "n": 6, "nz": -1}.items():
            put(w, key, np.int32(value))
        put(w, "p", starts.astype("i4"))
        put(w, "i", rows.astype("i4"))
        w.create_dataset("x", data=W[rows, columns], chunks=(4,), **packed)
        w.create_dataset("comment", data=np.bytes_("made by hand"))
        put(w, "conditioning", 7.0)
        put(w, "determinant", 46.0)
        put(w, "rank", np.int32(6))
        vectors = local.create_group("vectors")
        put(vectors, "q", np.array([-1, 2, 0, 0.5, 0.25, -3.0]))
        put(vectors, "mu", np.array([0.5, 0.375]))
        around(f, local, 6, put)
        if libver is None:
            local["info/description"] = "words of any length"


def around(f, problem, size, put):
    info = problem.create_group("info")
    info.create_dataset("title", data=np.bytes_("a title"))
    info.attrs["numberOfDegreeOfFreedom"] = np.array([6], "i4")
    guesses = f.create_group("guesses")
    put(guesses, "number_of_guesses", np.int32(1))
    guess = guesses.create_group("1")
    put(guess, "u", np.zeros(size))
    put(guess, "r", np.zeros(size))


def write_global(name):
    """One contact in the plane between two bodies, triplets as CSparse has them: rows in i, columns in p."""
    with h5py.File(HERE / name, "w", libver="latest") as f:

        def put(group, name, value):
            group.create_dataset(name, data=np.atleast_1d(value))

        problem = f.create_group("fclib_global")
        put(problem, "spacedim", np.int32(2))
        for key, rows, columns, x in [
            ("M", [0, 1], [0, 1], [2.0, 4.0]),
            ("H", [0, 0, 1], [0, 1, 1], [1.0, 0.5, 1.0]),
        ]:
            matrix = problem.create_group(key)
            for part, value in {"nzmax": len(x), "m": 2, "n": 2, "nz": len(x)}.items():
                put(matrix, part, np.int32(value))
            put(matrix, "p", np.array(columns, "i4"))
            put(matrix, "i", np.array(rows, "i4"))
            put(matrix, "x", np.array(x))
        vectors = problem.create_group("vectors")
        put(vectors, "f", np.array([-2.0, 8.0]))
        put(vectors, "w", np.array([0.0, 0.5]))
        put(vectors, "mu", np.array([0.5]))
        around(f, problem, 2, put)


write("classic.hdf5", compression="gzip", shuffle=True, fletcher32=True)
write("latest.hdf5", libver="latest", compression="gzip")
write_global("global.hdf5")
