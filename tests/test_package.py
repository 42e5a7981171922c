"""The package as a whole: its contract, its layers, the cost of importing it."""

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import linsep
from helpers import ROOT

SOURCE = ROOT / "src" / "linsep"
MODULES = sorted(
    "linsep." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in SOURCE.rglob("*.py")
)

# Loading any of these would make `import linsep` slow.
HEAVY = {
    "click",
    "flint",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
}


# --- the contract ---


def test_all_is_text_sorted_and_every_name_resolves():
    assert all(type(name) is str for name in linsep.__all__)
    assert len(set(linsep.__all__)) == len(linsep.__all__)
    for name in linsep.__all__:
        assert getattr(linsep, name) is not None
    assert set(linsep.__all__) <= set(dir(linsep))


@pytest.mark.parametrize("module", sorted({*MODULES} - {"linsep.__main__"}))
def test_every_module_defines_the_names_it_exports(module):
    loaded = importlib.import_module(module.removesuffix(".__init__"))
    for name in getattr(loaded, "__all__", ()):
        assert hasattr(loaded, name), f"{module}.__all__ lists {name!r}"


def test_type_checkers_are_told_of_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in block.body
        for alias in node.names
    }
    assert {*told, "__version__"} == set(linsep.__all__)
    for name, home in told.items():
        module, _, attribute = home.rpartition(".")
        found = getattr(importlib.import_module(module), attribute)
        assert found is getattr(linsep, name), name


def test_names_of_the_first_version_warn_and_work():
    with pytest.warns(DeprecationWarning, match=r"linsep\.Progress"):
        assert linsep.Pass is linsep.Progress


def test_no_module_is_named_like_a_public_function():
    functions = {name for name in linsep.__all__ if callable(getattr(linsep, name))}
    children = {module.name for module in pkgutil.iter_modules([str(SOURCE)])}
    assert not functions & children


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        linsep.no_such_name  # noqa: B018


# --- importing ---


def modules_after(code: str) -> set[str]:
    """The modules loaded once a fresh interpreter has run some code."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nprint(*sys.modules, sep='|')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split("|"))


def run_of_the_command(*words: str) -> str:
    """The code that runs the command in a fresh interpreter, whatever it returns."""
    return (
        "import contextlib, sys\nfrom linsep.cli import main\n"
        f"with contextlib.suppress(SystemExit): main({words!r})"
    )


def test_import_loads_nothing_heavy():
    assert not modules_after("import linsep, sys") & HEAVY


def test_help_of_the_command_loads_no_compiler_and_no_data_library():
    loaded = modules_after(run_of_the_command("--help"))
    assert "click" in loaded
    assert not loaded & (HEAVY - {"click"})


@pytest.mark.parametrize(
    ("command", "needed", "also_needed"),
    [
        ("separate", "linsep.search.separator_search", set()),
        (
            "diagnose",
            "linsep.diagnosis.pipeline",
            {"flint", "numpy.ma", "numpy.random"},
        ),
    ],
)
def test_a_command_loads_nothing_that_it_does_not_need(command, needed, also_needed):
    data = str(ROOT / "examples" / "data" / "breast_cancer.csv")
    loaded = modules_after(run_of_the_command(command, data, "--target=diagnosis"))
    assert needed in loaded
    not_needed = HEAVY - {"click", "numpy", "scipy"} | {
        "narwhals",
        "numpy.ma",
        "numpy.random",
        "scipy.linalg",
        "scipy.sparse",
        "scipy.sparse.csgraph",
    }
    assert not loaded & (not_needed - also_needed)


def test_a_small_conflict_is_proved_without_python_flint():
    code = (
        "import linsep, sys\n"
        "X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]\n"
        "assert linsep.separate(X, y).conflict.tolist() == [0, 1, 2, 3]"
    )
    loaded = modules_after(code)
    assert "linsep.proof.gordan" in loaded
    assert not loaded & {"flint", "linsep.proof.linear"}


LATER_IMPORTS = [
    "import scipy.linalg.cython_blas, scipy.linalg.cython_lapack\n"
    "assert 'dgemm' in scipy.linalg.cython_blas.__pyx_capi__\n"
    "assert 'dpotrf' in scipy.linalg.cython_lapack.__pyx_capi__\n"
    "assert scipy.linalg.solve([[2.0]], [4.0]) == 2.0",
    "import scipy.sparse.linalg\n"
    "assert scipy.sparse.linalg.spsolve(scipy.sparse.csc_array([[2.0]]), [4.0]) == 2.0",
    "from sklearn.svm import SVC\n"
    "assert SVC().fit([[0.0], [1.0]], [0, 1]).predict([[1.0]]) == 1",
    "import statsmodels.api as sm\n"
    "assert abs(sm.OLS([2.0, 4.0], [1.0, 2.0]).fit().params[0] - 2.0) < 1e-12",
]


@pytest.mark.parametrize("later", LATER_IMPORTS)
@pytest.mark.parametrize("linsep_first", [True, False])
def test_scipy_is_whole_before_and_after_its_functions_were_taken(later, linsep_first):
    """Its BLAS is taken from two files of a package that has not been imported."""
    ours = "import linsep, sys\nassert linsep.separate([[0.0], [1.0]], [0, 1]).proved"
    codes = [ours, later] if linsep_first else [later, ours]
    loaded = modules_after("\n".join(codes))
    assert "scipy.linalg" in loaded
    only_ours = modules_after(ours)
    assert not {"scipy.linalg", "scipy.linalg.cython_blas"} & only_ours


def test_scipy_functions_that_are_not_found_alone_are_imported_as_usual():
    code = (
        "import sys, importlib.util\n"
        "importlib.util.find_spec = lambda name: None\n"
        "import linsep.solvers.engines"
    )
    assert {"scipy.linalg", "scipy.linalg.cython_blas"} <= modules_after(code)


# --- layers ---


def linsep_imports(path: Path, *, lazy: bool) -> Iterator[str]:
    """Yield the modules of linsep a file imports, those for type checkers left out.

    With `lazy`, imports inside functions count as well.
    """
    for node in nodes(ast.parse(path.read_text()), lazy):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from linsep import cli` imports the module linsep.cli.
            names = [node.module or ""] + [
                f"{node.module}.{alias.name}" for alias in node.names
            ]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "linsep")


def nodes(tree: ast.AST, lazy: bool) -> Iterator[ast.AST]:
    """Walk a tree, but not into `if TYPE_CHECKING`, nor into functions unless lazy."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.FunctionDef) and not lazy:
            continue
        yield node
        yield from nodes(node, lazy)


def part_of(module: str, parts: Iterable[str]) -> str | None:
    """The part a module belongs to: the longest of the names that holds it."""
    names = [part for part in parts if f"{module}.".startswith(f"linsep.{part}.")]
    return max(names, key=len, default=None)


def parts_imported(part: str) -> set[str]:
    """The parts that one part imports anywhere, inside functions too, bar itself."""
    files = [
        module_path(module)
        for module in MODULES
        if part_of(module.removesuffix(".__init__"), MAY_IMPORT) == part
    ]
    imported = {
        part_of(name, MAY_IMPORT)
        for path in files
        for name in linsep_imports(path, lazy=True)
    }
    return imported - {part, None}


# Every part of the package and what it may know of the others, lowest first: a part
# knows only parts above it in this table, so the arrows run one way.
MAY_IMPORT: dict[str, set[str]] = {
    "arrays": set(),
    "printable": set(),
    "wrapping": {"printable"},
    "whole_files": set(),
    "lazy": set(),
    "labellings": set(),
    "figure_style": {"whole_files"},
    "rows": {"arrays"},
    "input": {"arrays", "printable", "rows"},
    "displays": {"arrays", "figure_style", "input", "rows"},
    "report": {
        "arrays",
        "displays",
        "figure_style",
        "labellings",
        "printable",
        "rows",
        "whole_files",
    },
    "solvers": {"arrays", "rows"},
    "proof": {"arrays", "input", "rows", "whole_files"},
    "verified": {"arrays", "proof", "rows", "solvers"},
    "result": {"arrays", "input", "lazy", "printable", "proof", "report", "wrapping"},
    "search": {
        "arrays",
        "input",
        "lazy",
        "proof",
        "report",
        "result",
        "rows",
        "solvers",
        "verified",
        "whole_files",
    },
    "separation": {"input", "result", "search"},
    "largest_margin": {"input", "result", "search"},
    "chance": {"input", "labellings", "result", "rows", "search"},
    "classifier": {"arrays", "input", "result", "rows", "search", "solvers"},
    "diagnosis.status": set(),
    "diagnosis.watch": set(),
    "diagnosis.inputs": {"arrays", "input", "rows"},
    "diagnosis.exact": {
        "arrays",
        "diagnosis.inputs",
        "diagnosis.status",
        "diagnosis.watch",
        "input",
        "proof",
        "rows",
        "solvers",
        "verified",
    },
    "diagnosis.report": {
        "arrays",
        "diagnosis.exact",
        "diagnosis.inputs",
        "diagnosis.status",
        "diagnosis.watch",
        "labellings",
        "printable",
        "proof",
        "report",
        "rows",
        "verified",
    },
    "diagnosis": {
        "arrays",
        "diagnosis.exact",
        "diagnosis.inputs",
        "diagnosis.report",
        "diagnosis.status",
        "diagnosis.watch",
        "input",
        "lazy",
        "proof",
        "report",
        "rows",
        "solvers",
        "printable",
        "wrapping",
    },
    "hull": {
        "arrays",
        "diagnosis.exact",
        "diagnosis.watch",
        "figure_style",
        "input",
        "lazy",
        "proof",
        "rows",
        "separation",
        "solvers",
        "wrapping",
    },
    "lab": {
        "arrays",
        "displays",
        "figure_style",
        "input",
        "labellings",
        "printable",
        "rows",
        "solvers",
        "whole_files",
    },
    "datasets": {"lab"},  # public names of parts of the laboratory
    "game": {"lab"},
    "perceptrons": {"lab"},
    "plotting": {"displays", "hull", "lab"},
    "cli": {
        "arrays",
        "classifier",
        "diagnosis",
        "diagnosis.inputs",
        "input",
        "largest_margin",
        "lazy",
        "printable",
        "proof",
        "report",
        "result",
        "rows",
        "separation",
        "whole_files",
        "wrapping",
    },
    "__main__": {"cli"},
}


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_part_knows_only_parts_below_it(part):
    above = list(MAY_IMPORT)[: list(MAY_IMPORT).index(part)]
    assert parts_imported(part) == MAY_IMPORT[part]  # no permission goes unused
    assert MAY_IMPORT[part] <= set(above)


def test_every_module_belongs_to_a_part():
    for module in set(MODULES) - {"linsep.__init__"}:
        assert part_of(module.removesuffix(".__init__"), MAY_IMPORT), module


def test_modules_import_one_another_in_one_direction():
    graph = {
        module.removesuffix(".__init__"): {
            name
            for name in linsep_imports(module_path(module), lazy=False)
            if name.removesuffix(".__init__") != module.removesuffix(".__init__")
        }
        for module in MODULES
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done and module in graph:
            for other in graph[module]:
                # A package's own parts may name it; it has begun to load by then.
                if not module.startswith(other + "."):
                    visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def module_path(module: str) -> Path:
    """The file of a module."""
    return ROOT / "src" / Path(*module.split(".")).with_suffix(".py")


def test_no_module_is_too_long_to_read():
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyx")]:
        assert len(path.read_text().splitlines()) <= 450, path


def test_the_spine_reads_in_an_afternoon():
    text = (ROOT / "docs" / "architecture.rst").read_text()
    spine = re.findall(r"^\d+\. ``([\w/]+\.py)``:", text, re.MULTILINE)
    assert len(spine) == 11
    sizes = [len((SOURCE / name).read_text().splitlines()) for name in spine]
    assert sum(sizes) <= 2500


def test_no_code_unpickles_or_evaluates_text():
    forbidden = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & forbidden, path
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in forbidden, path
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_every_compiled_module_is_built_and_typed():
    listed = re.findall(
        r"'(linsep/[\w/]+)':", (ROOT / "src" / "meson.build").read_text()
    )
    sources = list(SOURCE.rglob("*.pyx"))
    names = [path.relative_to(ROOT / "src").with_suffix("") for path in sources]
    assert sorted(listed) == sorted(name.as_posix() for name in names)
    for path, name in zip(sources, names, strict=True):
        assert path.with_suffix(".pyi").exists(), name
        loaded = importlib.import_module(".".join(name.parts))
        assert not loaded.__file__.endswith((".py", ".pyx"))


# --- what is written about it ---


def test_version_is_the_same_everywhere():
    project = (ROOT / "pyproject.toml").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert f'\nversion = "{linsep.__version__}"\n' in project
    assert f"\nversion: {linsep.__version__}\n" in citation
    assert re.search(rf"^## {re.escape(linsep.__version__)}\b", changes, re.MULTILINE)


def test_readme_examples_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(
        str(ROOT / "README.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert tried > 0
    assert failed == 0


def test_every_public_field_of_a_record_is_documented():
    names = [name for name in linsep.__all__ if is_dataclass(getattr(linsep, name))]
    from linsep.diagnosis import Batch, Item
    from linsep.result import Progress

    records = {*(getattr(linsep, name) for name in names), Batch, Item, Progress}
    assert len(records) > 3
    for record in records:
        listed = re.findall(
            r"^ {4}(\w+(?:, \w+)*)(?: :|$)", record.__doc__, re.MULTILINE
        )
        known = {name for line in listed for name in line.split(", ")}
        own = {f.name for f in fields(record)} & set(record.__annotations__)
        public = {name for name in own if not name.startswith("_")}
        assert public <= known, (record, public - known)
