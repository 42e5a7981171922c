"""X of every type: the same numbers, or an error that says what to do."""

import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.input import InputError
from linsep.input.features import features_from

NUMBERS = np.array([[1.0, -2.5, 0.0], [3.0, 0.0, 1e-300]])


def features_of(X):
    return features_from(X)[0]


def same_numbers(features, expected):
    dense = features.toarray() if sparse.issparse(features) else features
    return dense.dtype in (np.float32, np.float64) and np.array_equal(dense, expected)


# --- arrays that are used as they are ---------------------------------------------


def float_layouts():
    base = np.arange(24.0).reshape(4, 6)
    frozen = base.copy()
    frozen.flags.writeable = False
    return {
        "C order": base,
        "Fortran order": np.asfortranarray(base),
        "float32": base.astype(np.float32),
        "read-only": frozen,
        "every second column": base[:, ::2],
        "negative strides": base[::-1, ::-1],
        "broadcast": np.broadcast_to(base[0], (5, 6)),
        "transposed": base.T,
        "np.matrix": np.matrix(base),
    }


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("layout", float_layouts())
def test_float_arrays_are_neither_copied_nor_changed(layout):
    X = float_layouts()[layout]
    before = X.copy()
    features = features_of(X)
    assert type(features) is np.ndarray
    assert np.shares_memory(features, X)
    assert features.strides == X.strides
    assert features.dtype == X.dtype
    assert np.array_equal(X, before)


def test_memory_mapped_array_is_not_read_into_memory(tmp_path):
    np.save(tmp_path / "X.npy", NUMBERS)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    features = features_of(X)
    assert np.shares_memory(features, X)


# --- types that are converted, exactly --------------------------------------------


class SpeaksArray:
    def __array__(self, dtype=None, copy=None):
        return NUMBERS.copy()


class SpeaksInterface:
    def __init__(self):
        self.kept = NUMBERS.copy()
        self.__array_interface__ = self.kept.__array_interface__


@pytest.mark.parametrize(
    "X",
    [
        NUMBERS.tolist(),
        tuple(map(tuple, NUMBERS.tolist())),
        [NUMBERS[0], NUMBERS[1]],
        NUMBERS.astype(object),
        NUMBERS.astype(">f8"),
        NUMBERS.astype(np.longdouble),
        np.ma.masked_array(NUMBERS, mask=False),
        SpeaksArray(),
        SpeaksInterface(),
        sparse.csr_matrix(NUMBERS),
        sparse.csr_array(NUMBERS),
        sparse.csc_matrix(NUMBERS),
        sparse.coo_array(NUMBERS),
        sparse.lil_array(NUMBERS),
        sparse.dok_array(NUMBERS),
        sparse.bsr_array(NUMBERS),
        sparse.dia_array(NUMBERS),
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_container_gives_the_same_numbers(X):
    assert same_numbers(features_of(X), NUMBERS)


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (np.asarray, t)
        for t in [
            "?",
            "i1",
            "u1",
            "i2",
            "u2",
            "i4",
            "u4",
            "i8",
            "u8",
            "f2",
            "f4",
            "f8",
            ">i8",
            ">f4",
        ]
    ]
    + [
        (sparse.csr_array, t)
        for t in ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
    ],
    ids=lambda p: getattr(p, "__name__", p),
)
def test_every_number_type_is_taken_exactly(dtype, make):
    numbers = np.array([[0, 1], [1, 1], [0, 0]]).astype(dtype)
    features = features_of(make(numbers))
    assert same_numbers(features, numbers.astype(float))
    assert features.dtype == (
        np.float32 if dtype in ("f2", "f4", ">f4") else np.float64
    )


def test_half_precision_is_widened_exactly():
    X = np.array([[65504.0, 2.0**-24, 1 / 3]], dtype=np.float16)
    features = features_of(X)
    assert features.dtype == np.float32
    assert features.tolist() == X.tolist()


def test_python_numbers_of_mixed_types_are_taken_exactly():
    features = features_of([[True, 2**60, Fraction(3, 8)], [Decimal("0.5"), -1, 2.5]])
    assert features.tolist() == [[1.0, 2.0**60, 0.375], [0.5, -1.0, 2.5]]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_with_few_significant_bits_are_taken(dtype):
    X = np.array([[2**60, 2**53, 2**62 + 2**62 // 2, 5 * 2**57, 0]], dtype=dtype)
    assert [int(x) for x in features_of(X)[0]] == X[0].tolist()


def test_the_smallest_int64_is_taken():
    smallest = np.iinfo(np.int64).min
    assert features_of(np.array([[smallest, 1]]))[0, 0] == -(2.0**63)


# --- integers that would be rounded -----------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1], [2**53 + 1]]),
        np.array([[1], [-(2**53) - 1]]),
        np.array([[2**63 - 1]]),
        np.array([[2**63 + 1]], dtype=np.uint64),
        [[2**53 + 1]],
        [[0.5, 2**53 + 1]],
        [[2**63 + 1, -1]],
        [[2**70 + 1]],
        [[10**400]],
        [[Fraction(1, 3)]],
        [[Decimal("0.1")]],
        sparse.csr_array(np.array([[0, 2**53 + 1]])),
    ],
    ids=str,
)
def test_numbers_that_would_be_rounded_are_refused(X):
    with pytest.raises(InputError, match="would be rounded; scale or shift the column"):
        features_of(X)


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant == 52, reason="long doubles are doubles here"
)
@pytest.mark.parametrize("bits", [-60, 16000])
def test_long_doubles_that_float64_cannot_hold_are_refused(bits):
    X = np.array([[1, np.longdouble(1) + np.longdouble(2) ** bits]])
    with pytest.raises(InputError, match="would be rounded"):
        features_of(X)


def test_the_rounding_error_names_the_number():
    with pytest.raises(InputError, match="exactly, got -9007199254740993, which"):
        features_of(np.array([[0, 1], [7, -(2**53) - 1]]))


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_int64_is_taken_exactly_if_and_only_if_float64_holds_it(number):
    X = np.array([[number]], dtype=np.int64)
    if int(float(number)) == number:
        assert features_of(X)[0, 0] == number
    else:
        with pytest.raises(InputError, match="would be rounded"):
            features_of(X)


# --- NaN and infinities -----------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda X: X,
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: X.tolist(),
        sparse.csr_array,
        sparse.csc_array,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    ],
    ids=["C", "F", "float32", "list", "CSR", "CSC", "strided"],
)
def test_non_finite_entries_are_counted_and_placed(wrap):
    X = np.ones((50, 4))
    X[7, 2] = np.nan
    X[9, 0] = np.nan
    X[8, 1] = -np.inf
    with pytest.raises(
        InputError,
        match="X must be finite, got 2 NaN or missing and 1 infinite values, the first "
        "in row 7, column 2; drop or fill in the rows with missing values",
    ):
        features_of(wrap(X))


def test_one_infinity_is_reported_in_the_singular():
    with pytest.raises(InputError, match="got 1 infinite value, the first in row 0"):
        features_of([[np.inf, 0.0]])


def test_none_in_a_list_is_a_missing_value():
    with pytest.raises(
        InputError, match="got 1 NaN or missing value, the first in row"
    ):
        features_of([[1.0, None]])


def test_a_sum_that_overflows_is_not_an_infinity():
    X = np.full((100, 3), 1.7e308)
    assert features_of(X) is not None
    assert features_of(np.full((9, 3), 3e38, dtype=np.float32)) is not None


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    data=st.data(),
    fortran=st.booleans(),
)
def test_the_first_bad_entry_is_found_anywhere(shape, data, fortran):
    row = data.draw(st.integers(0, shape[0] - 1))
    column = data.draw(st.integers(0, shape[1] - 1))
    X = np.zeros(shape, order="F" if fortran else "C")
    X[row, column] = np.inf
    with pytest.raises(InputError, match=f"row {row}, column {column};"):
        features_of(X)


@pytest.mark.parametrize(
    "view",
    [
        lambda X: X,
        lambda X: X.T,
        lambda X: X[:, ::2],
        lambda X: X[::-1],
        lambda X: X.T[::2],
    ],
    ids=["C", "F", "columns", "backwards", "F rows"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_checking_needs_no_copy_of_the_data(view, dtype):
    X = view(np.ones((100_000, 100), dtype=dtype))  # 80 MB of float64
    tracemalloc.start()
    features_of(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_a_bad_entry_late_in_a_large_array_is_found():
    X = np.ones((60_000, 10))
    X[59_999, 9] = np.nan
    with pytest.raises(InputError, match="row 59999, column 9"):
        features_of(X)


# --- sparse matrices --------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.int8])
@pytest.mark.parametrize("form", ["coo", "csr"])
def test_duplicate_entries_are_summed_in_a_copy(dtype, form):
    data = np.array([100, 100, 5], dtype=dtype)
    if form == "coo":
        X = sparse.coo_array((data, ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    else:
        X = sparse.csr_array((data, [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert same_numbers(features_of(X), [[0, 200], [5, 0]])
    assert X.data.tolist() == [100, 100, 5]
    assert X.nnz == 3


def test_unsorted_indices_are_sorted_in_a_copy():
    X = sparse.csr_array(([1.0, 2.0], [1, 0], [0, 2]), shape=(1, 2))
    assert same_numbers(features_of(X), [[2.0, 1.0]])
    assert X.indices.tolist() == [1, 0]


def test_canonical_csr_is_not_copied_and_keeps_float32():
    X = sparse.csr_matrix(NUMBERS.astype(np.float32))
    features = features_of(X)
    assert np.shares_memory(features.data, X.data)
    assert features.dtype == np.float32


def test_sparse_with_explicit_zeros_long_indices_or_read_only_parts():
    X = sparse.csr_array(([0.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.data.flags.writeable = False
    assert same_numbers(features_of(X), [[0, 0], [0, 2]])


def test_sparse_non_finite_entry_is_placed_by_row_and_column():
    X = sparse.random_array((30, 20), density=0.2, rng=0, format="lil")
    X[17, 11] = np.nan
    for form in ("csr", "csc", "coo"):
        with pytest.raises(InputError, match=r"got 1 NaN .* row 17, column 11"):
            features_of(X.asformat(form))


def test_sparse_matrix_with_indices_out_of_range_is_refused():
    X = sparse.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    X.indices[1] = 1000
    with pytest.raises(InputError, match="must be a well-formed sparse matrix"):
        features_of(X)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-9, 9)), max_size=12
    )
)
def test_sparse_gives_the_same_numbers_as_its_dense_form(entries):
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    data = np.array(values, dtype=float)
    X = sparse.coo_array((data, (list(rows), list(columns))), shape=(4, 3))
    for form in (X, X.tocsr(), X.tocsc()):
        assert np.array_equal(features_of(form).toarray(), X.toarray())


# --- what is refused, and the advice given ----------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"two-dimensional.*shape \(2,\); pass X.reshape\(-1, 1\) if it is "
         r"one feature of many samples, or X.reshape\(1, -1\) if it is one sample"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\); pass X.reshape\(len\(X\), -1\)"),
        (5.0, "got a single float; pass one row for every sample"),
        (None, "got a single NoneType"),
        ({"a": [1]}, "got a single dict"),
        ([], r"X must have at least one row, got shape \(0,\)"),
        ([[1.0, 2.0], [3.0]], "the same number of entries in every row"),
        (np.array([[1.0], [2.0, 3.0]], dtype=object), "2 rows of different lengths"),
        ([[1j, 2.0]], "must hold real numbers, got complex ones"),
        (np.zeros((2, 2), dtype=np.complex64), "real and imaginary parts as two col"),
        (sparse.csr_array(np.array([[1j]])), "got complex ones"),
        (np.array([[1j, 1]], dtype=object), "got 1j of type complex"),
        ([["1.5", "2"]], r"numbers only, got text \(dtype <U3\); turn text and categ"),
        ([[1.5, "a"]], "got text"),
        ([[b"a"]], "got bytes"),
        (np.array([["a", 1.0]], dtype=object), "got 'a' of type str; turn text"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "got dates.*dates into numbers"),
        (np.array([[5]], dtype="m8[s]"), "got durations"),
        (np.zeros((2, 2), dtype=[("a", float)]), r"structured one with fields \['a'\]"),
        (np.array([["a"]], dtype=np.dtypes.StringDType()), "got text"),
        (np.ma.masked_greater(np.arange(6.0).reshape(2, 3), 3), "got 2 masked entries"),
        (sparse.coo_array(np.array([1.0, 2.0])), r"reshape\(-1, 1\)"),
    ],
)  # fmt: skip
def test_unusable_input_is_explained(X, message):
    with pytest.raises(InputError, match=message):
        features_of(X)


def test_a_structured_vector_says_how_to_make_a_matrix():
    X = np.zeros(3, dtype=[("age", float), ("dose", float)])
    with pytest.raises(InputError, match="structured_to_unstructured"):
        features_of(X)


class BrokenArray:
    def __array__(self, dtype=None, copy=None):
        raise TypeError("the data are on another device")


def test_an_array_that_numpy_cannot_read_passes_its_reason_on():
    with pytest.raises(
        InputError, match=r"BrokenArray.*\(the data are on another devi"
    ):
        features_of(BrokenArray())


@pytest.mark.parametrize(
    "X", [np.empty((3, 0)), [[], [], []], sparse.csr_array((3, 0))]
)
def test_no_columns_are_legal_features(X):
    assert features_of(X).shape == (3, 0)
