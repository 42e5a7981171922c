"""Rows over a mapped file: the same numbers and answers, in less memory."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep.input.features import features_from
from linsep.rows import mapped, protocol, rows_from
from linsep.rows.mapped import MappedRows, mapped_rows

pytestmark = pytest.mark.skipif(
    not mapped.is_large(1 << 40), reason="this system does not let go of pages"
)
N, D = 5000, 6
MEMORY = np.random.default_rng(0).normal(size=(N, D))
# Layouts of the file, and what of it is looked at.
LAYOUTS = {
    "C": (np.float64, "C", np.s_[:]),
    "F": (np.float64, "F", np.s_[:]),
    "single": (np.float32, "C", np.s_[:]),
    "columns": (np.float64, "C", np.s_[:, 1:5]),
    "rows": (np.float64, "C", np.s_[100:4000]),
    "backwards": (np.float64, "C", np.s_[::-1]),
}


@pytest.fixture(autouse=True)
def _large_is_small(monkeypatch):
    """Files of some hundred kilobytes count as large, and some pages as many."""
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", 1)
    monkeypatch.setattr(mapped, "_MOST_HELD", 16 * 1024)
    monkeypatch.setattr(mapped, "_PAGE", 4096)


def of_file(folder: Path, X, mode="r"):
    """The same array over a file, as `numpy.load` and users map it."""
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode=mode)


@pytest.fixture(params=LAYOUTS)
def pair(request, tmp_path):
    """An array in memory, and the same one over a file."""
    dtype, order, part = LAYOUTS[request.param]
    X = np.array(MEMORY, dtype=dtype, order=order)
    rows = mapped_rows(np.asarray(of_file(tmp_path, X)[part]))
    assert isinstance(rows, MappedRows)
    return X[part], rows


RNG = np.random.default_rng(1)
INDICES = {
    "one": 7,
    "last": -1,
    "number": (3, 2),
    "range": np.s_[20:900],
    "stepped": np.s_[3000:10:-7],
    "all": np.s_[:],
    "none": np.s_[0:0],
    "block": np.s_[5:50, 1:3],
    "column": np.s_[:, 2],
    "columns": np.s_[:, 1:3],
    "part of a column": np.s_[17:, 0],
    "dots": np.s_[..., 1],
    "new axis": np.s_[:, None],
    "mask": RNG.random(N) < 0.3,
    "near": np.arange(40, 2000),
    "sorted": np.sort(RNG.choice(3900, 700, replace=False)),
    "unsorted": RNG.permutation(3900),
    "repeated": RNG.integers(0, 50, 3000),
    "small": np.array([3, 200, 5], dtype=np.uint8),
    "unsigned": np.arange(3, 3000, 2, dtype=np.uint64),
    "negative": np.array([-1, 5, -300]),
    "no rows": np.empty(0, dtype=np.intp),
    "list": [4, 2, 4],
    "pairs": (np.array([3, 1]), np.array([0, 2])),
    "two-dimensional": np.array([[1, 2], [3000, 4]]),
}


@pytest.mark.parametrize("name", INDICES)
def test_what_is_taken_is_what_memory_holds(pair, name):
    memory, rows = pair
    index = INDICES[name]
    if name == "mask":
        index = index[: len(memory)]
    expected, found = memory[index], rows[index]
    np.testing.assert_array_equal(found, expected, strict=True)
    # Views of all rows let go as the whole does; all else is a plain array.
    is_whole = name in ("all", "columns")
    assert type(found) is (MappedRows if is_whole else type(expected))


@pytest.mark.parametrize(
    "index",
    [N, (0, D), np.array([0, N]), np.array([-N - 1]), np.zeros(3, dtype=bool), "a"],
    ids=str,
)
def test_what_is_wrong_with_an_index_is_said_as_numpy_says_it(tmp_path, index):
    rows = mapped_rows(of_file(tmp_path, MEMORY))
    with pytest.raises(IndexError) as expected:
        MEMORY[index]
    with pytest.raises(IndexError, match=re.escape(str(expected.value))):
        rows[index]


def test_what_is_computed_is_a_plain_array(pair):
    memory, rows = pair
    for function in (
        lambda X: X != 0,
        lambda X: X.sum(axis=0),
        lambda X: X @ np.ones(X.shape[1]),
        lambda X: np.dot(X, np.ones(X.shape[1])),
        lambda X: np.concatenate([X, np.zeros((2, X.shape[1]))]),
        lambda X: np.ascontiguousarray(X)[:3] + 1,
        lambda X: pickle.loads(pickle.dumps(X)),
        lambda X: np.array([row.sum() for row in X]),
    ):
        expected, found = function(memory), function(rows)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    assert type(rows.sum()) is type(memory.sum())
    # NumPy keeps the type of these, which lie in memory.
    both = np.concatenate([rows, rows])
    np.testing.assert_array_equal(both[len(rows) :][[1, 2]], memory[[1, 2]])
    np.testing.assert_array_equal(rows.copy()[np.arange(9)], memory[:9])


def test_what_is_small_in_memory_or_kept_apart_from_its_file_stays_as_it_is(
    tmp_path, monkeypatch
):
    assert mapped_rows(MEMORY) is MEMORY
    own = of_file(tmp_path, MEMORY, mode="c")
    own[3] = 7.0  # no change of the file: letting go of it would lose it
    assert mapped_rows(own) is own
    assert linsep.separate(own[:50], MEMORY[:50, 0] > 0).separable is not None
    assert own[3].tolist() == [7.0] * D
    over = of_file(tmp_path, MEMORY, mode="r+")
    over[3] = 7.0  # this one is the file's
    assert mapped_rows(over)[np.array([3])].tolist() == [[7.0] * D]
    rows = mapped_rows(over)
    assert mapped_rows(rows[:, 1:]).pages is rows.pages
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", over.nbytes + 1)
    assert mapped_rows(over) is over
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", 1)
    monkeypatch.setattr(mapped, "_CAN_LET_GO", False)  # as on Windows
    assert mapped_rows(over) is over


def test_a_system_that_keeps_the_pages_is_no_error(tmp_path, monkeypatch):
    rows = mapped_rows(of_file(tmp_path, MEMORY))

    class Stubborn:
        def madvise(self, advice):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(rows.pages, "_mapping", Stubborn())
    np.testing.assert_array_equal(rows[MEMORY[:, 0] > 0], MEMORY[MEMORY[:, 0] > 0])


def test_sweeps_are_the_same_to_the_bit(pair, monkeypatch):
    memory, rows = pair
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 4001)  # chunks end anywhere
    signs = np.where(memory[:, 0] + 0.3 * memory[:, 1] > 0, 1, -1).astype(np.int8)
    w = RNG.normal(size=memory.shape[1] + 1)
    index = np.sort(RNG.choice(len(memory), 2000, replace=False))
    of_memory = rows_from(memory, signs, True)
    of_mapped = rows_from(rows, signs, True)
    for found, expected in zip(
        (*of_mapped.margins(w), *of_mapped.margins(w, index), of_mapped.take(index)),
        (*of_memory.margins(w), *of_memory.margins(w, index), of_memory.take(index)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected, strict=True)
    a, b = of_mapped.scan(w, 40), of_memory.scan(w, 40)
    assert all(np.array_equal(x, vars(b)[name]) for name, x in vars(a).items())


def said(answer) -> dict:
    """What an answer says, but for how long it took."""
    return {k: v for k, v in answer.to_dict().items() if "seconds" not in k}


@pytest.mark.parametrize("is_separable", [True, False])
@pytest.mark.parametrize("layout", ["C", "F", "columns"])
def test_answers_and_certificates_are_the_same_to_the_byte(
    tmp_path, layout, is_separable
):
    dtype, order, part = LAYOUTS[layout]
    X = np.array(MEMORY, dtype=dtype, order=order)
    y = X[:, 1] + 0.5 * X[:, 2] > 0
    y[:: 1 if is_separable else 7] ^= not is_separable
    X[:, 1] += np.where(y, 0.01, -0.01)
    over = of_file(tmp_path, X)[part]
    assert type(features_from(over)[0]) is MappedRows
    for call in (linsep.separate, linsep.max_margin, linsep.diagnose):
        expected, found = call(X[part], y), call(over, y)
        assert said(found) == said(expected)
        assert found.certificate.to_json() == expected.certificate.to_json()
        assert found.certificate.verify(over, y) == found.certificate.verify(X[part], y)
    fitted = [linsep.OptimisticPerceptron().fit(A, y) for A in (X[part], over)]
    expected, found = (c.decision_function(A) for c in fitted for A in (over,))
    assert found.tobytes() == expected.tobytes()


def resident(array) -> int:
    """The bytes of a mapped file that this process holds."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    name, held, is_it = str(array.filename), 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_it = line.endswith(name)
        elif is_it and line.startswith("Rss:"):
            held += int(line.split()[1]) * 1024
    return held


WAYS = {
    "ranges of rows": lambda X: [X[k : k + 5000].sum() for k in range(0, len(X), 5000)],
    "rows by number": lambda X: X[np.arange(len(X))].sum(),
    "rows at random": lambda X: X[RNG.permutation(len(X))[:50_000]].sum(),
    "a mask": lambda X: X[np.arange(len(X)) % 3 == 0].sum(),
    "columns": lambda X: [X[:, j].sum() for j in range(X.shape[1])],
    "single rows": lambda X: [X[k].sum() for k in range(0, len(X), 100)],
    "margins": lambda X: rows_from(X, np.ones(len(X), np.int8), False).margins(X[0]),
    "signed rows": lambda X: (
        rows_from(X, np.ones(len(X), np.int8), False).take(np.arange(len(X))).sum()
    ),
    "a sweep": lambda X: rows_from(X, np.ones(len(X), np.int8), False).scan(X[0], 9),
}


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="Linux tells")
@pytest.mark.parametrize("way", WAYS)
def test_a_look_at_all_rows_leaves_little_of_the_file_in_memory(
    tmp_path, monkeypatch, way
):
    most = 4 * 2**20
    monkeypatch.setattr(mapped, "_MOST_HELD", most)
    monkeypatch.setattr(mapped, "_PAGE", 2 * 2**20)
    X = np.random.default_rng(0).normal(size=(200_000, 20))
    over = of_file(tmp_path, X)
    np.asarray(over).sum()
    assert resident(over) > 0.9 * X.nbytes > 6 * most  # what it would be otherwise
    rows = mapped_rows(over)
    rows.pages.let_go()
    WAYS[way](rows)
    # What is looked at, and a large page at either end, is all there.
    assert resident(over) <= 2 * most
    np.testing.assert_array_equal(rows, X)
