"""Change one operator, constant or statement at a time and ask whether a test notices.

    python tools/mutants.py MODULE... [--sample N] [--seed N] [--seconds N] [--jobs N]

A module is named by its place below ``src/linsep``, such as ``proof/checker``, or by a
folder of such, and its tests are ``tests/proof/test_checker.py`` and the others that
`TESTS` names. A mutant is killed if one of these tests fails, or takes more processor
time than `--seconds`. Those that live are printed. The sources are left as they are:
each mutant is imported from a copy.

Changed are: comparisons (also to their neighbour, as ``<`` to ``<=``), arithmetic and
logical operators, integers and floats by one, truth values, conditions (negated),
``raise`` and calls for their effect (left out), and what is returned (None). Texts,
annotations and documentation stay.
"""

import argparse
import ast
import copy
import importlib
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src", "linsep")

# Which tests judge a module, the quickest first; else those of its own name.
TESTS = {
    "proof/checker": ["checker", "ordered_checker", "certificate"],
    "proof/ordered_checker": ["ordered_checker", "ordered_certificates"],
    "proof/coordinates": ["ladder"],
    "proof/evened": ["exact", "simplex", "ladder"],
    "proof/largest_margin": ["exact_margin"],
    "proof/certificate": ["certificate", "ordered_certificates"],
    "proof/exact": ["exact", "signs", "simplex"],
    "proof/linear": ["linear", "gordan", "simplex"],
    "proof/answers": ["canonical", "gordan", "simplex"],
}

COMPARISONS = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
# What the tests import and no mutant changes: imported once, not for every mutant.
PRELOADED = ["pytest", "z3", "sklearn", "scipy.optimize", "flint"]
SKIPPED = ("annotation", "returns", "decorator_list", "type_params")


def changes(node):
    """Yield what may stand in place of a node of the syntax tree."""

    def other(**fields):
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, value)
        return changed

    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for kind in COMPARISONS[type(operator)]:
                    ops = [*node.ops[:place], kind(), *node.ops[place + 1 :]]
                    yield other(ops=ops)
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            if type(node.op) in OPERATORS:
                yield other(op=OPERATORS[type(node.op)]())
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool()):
            yield other(value=not node.value)
        case ast.Constant(value=int() | float()):
            yield other(value=node.value + 1)
            yield other(value=node.value - 1)
        case ast.If() | ast.IfExp() | ast.While():
            yield other(test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Return(value=ast.expr()):
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                yield other(value=ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def places(node, path=(), function=""):
    """Yield the path to every node that may change, and the function it stands in."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = f"{function}.{node.name}".lstrip(".")
    for name, field in ast.iter_fields(node):
        if name in SKIPPED or isinstance(field, ast.JoinedStr):
            continue
        children = field if isinstance(field, list) else [field]
        for place, child in enumerate(children):
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                step = (name, place if isinstance(field, list) else None)
                yield (*path, step), child, function
                yield from places(child, (*path, step), function)


def replaced(tree, path, node):
    """Return a tree in which another node stands at the end of a path."""
    tree = copy.copy(tree)
    (name, place), *rest = path
    field = getattr(tree, name)
    child = field if place is None else field[place]
    child = replaced(child, rest, node) if rest else node
    if place is not None:
        child = [*field[:place], child, *field[place + 1 :]]
    setattr(tree, name, child)
    return tree


def mutants(module):
    """Return the texts of all mutants of a module, each with a line that names it."""
    tree = ast.parse((ROOT / PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    found = []
    for path, node, function in places(tree):
        for change in changes(node):
            before, after = (
                ast.unparse(ast.fix_missing_locations(part)).split("\n")[0]
                for part in (node, copy.deepcopy(change))
            )
            name = f"{module}:{node.lineno} {function}"
            words = f"{before} -> {after}"
            text = ast.unparse(ast.fix_missing_locations(replaced(tree, path, change)))
            found.append((name, words, text))
    return found


def started(folder, module, text, seconds):
    """Start a module's tests on a mutant in a process of its own; return its number.

    None stands for the module as it is.
    """
    sources = Path(folder, "src")
    shutil.copytree(ROOT / "src", sources)
    if text is not None:
        (Path(folder) / PACKAGE / f"{module}.py").write_text(text, "utf-8")
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        code = 1
        try:
            code = run_tests(sources, module)
        finally:
            os._exit(code)
    return child


def endings(module, texts, options):
    """Yield the place of each text and whether a test failed on it, as they end."""
    running, waiting = {}, list(enumerate(texts))[::-1]
    while waiting or running:
        if waiting and len(running) < options.jobs:
            place, text = waiting.pop()
            folder = tempfile.TemporaryDirectory()
            child = started(folder.name, module, text, options.seconds)
            running[child] = place, folder
            continue
        child, status = os.wait()
        place, folder = running.pop(child)
        folder.cleanup()
        yield place, status != 0


def run_tests(sources, module):
    """Run a module's tests on the sources in a folder, and return pytest's code."""
    import pytest

    sys.dont_write_bytecode = True
    sys.path.insert(0, str(sources))
    os.environ["PYTHONPATH"] = str(sources)
    names = TESTS.get(module, [module.rpartition("/")[2]])
    tests = ROOT / "tests" / module.partition("/")[0]
    files = [str(tests / f"test_{name}.py") for name in names]
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files]))


def judge(module, options):
    """Print the mutants of a module that live, and the share of those that do not."""
    began = time.monotonic()
    if any(dead for _, dead in endings(module, [None], options)):
        raise SystemExit(f"the tests of {module} fail on the module as it is")
    every = mutants(module)
    size = min(options.sample, len(every))
    chosen = random.Random(options.seed).sample(every, size)
    n_killed = 0
    for place, dead in endings(module, [text for _, _, text in chosen], options):
        n_killed += dead
        if not dead:
            print("    lives:", *chosen[place][:2], flush=True)
    print(
        f"{module}: {size} of {len(every)} mutants tried, {n_killed} killed: "
        f"{100 * n_killed / max(size, 1):.1f} % ({time.monotonic() - began:.0f} s)",
        flush=True,
    )


def main():
    """Judge the modules named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=["proof/checker"])
    parser.add_argument("--sample", type=int, default=100, help="of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=120, help="of the processor")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads may not fork
    for name in PRELOADED:
        importlib.import_module(name)
    for module in options.modules:
        judge(module, options)


if __name__ == "__main__":
    main()
