"""Change one operator, constant or statement at a time and ask whether a test notices.

    python tools/mutants.py MODULE... [--sample N] [--seed N] [--seconds N] [--jobs N]
                            [--among FILE]

A module is named by its place below ``src/linsep``, such as ``proof/checker``, and its
tests are ``tests/proof/test_checker.py`` and the others that `TESTS` names. A mutant is
noticed if one of these tests fails, or if they take more processor time than
`--seconds` and than twice what they took at first, when they were watched. The sources
are left as they are: the tests run once on them, and then for each mutant in a process
forked from that, where its code is put in the place of the function's. The tests that
run its line come first, the quickest before the others.

Those that ``tools/equal_mutants.txt`` lists are of no account and are not run: no
verdict depends on them, for the reason given there. Of the others those that live are
printed. The score is the share noticed: below `ENOUGH` for a module, exit code 1.

Changed are: comparisons (also to their neighbour, as ``<`` to ``<=``), arithmetic and
logical operators, integers and floats by one, truth values, conditions (negated),
``raise`` and calls for their effect (left out), and what is returned (None). Texts,
annotations, documentation and ``strict=True`` of a zip, an assertion, stay.
"""

import argparse
import ast
import contextlib
import copy
import functools
import gc
import importlib
import inspect
import itertools
import math
import os
import pickle
import random
import re
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src", "linsep")
EQUAL = ROOT / "tools" / "equal_mutants.txt"
ENOUGH = 95  # per cent of a module's mutants, those of no account left out

# Which tests judge a module, the quickest first; else those of its own name.
TESTS = {
    "proof/checker": ["checker", "ordered_checker", "certificate"],
    "proof/ordered_checker": [
        "ordered_bounds",
        "ordered_checker",
        "ordered_certificates",
    ],
    "proof/coordinates": ["coordinates", "ladder"],
    "proof/evened": ["evened", "exact", "simplex", "ladder"],
    "proof/largest_margin": ["exact_margin"],
    "proof/certificate": ["certificate", "ordered_certificates"],
    "proof/doubles": ["exact", "signs", "simplex"],
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
PRELOADED = ["z3", "sklearn", "scipy.optimize", "flint"]
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
        if isinstance(node, ast.keyword) and node.arg == "strict":
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


class Mutant(NamedTuple):
    """One change: its name, the lines and the function it is in, the module's text."""

    name: str
    lines: range
    function: str
    text: str


def mutants(module):
    """Return all mutants of a module."""
    tree = ast.parse((ROOT / PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    found = []
    for path, node, function in places(tree):
        for change in changes(node):
            changed = replaced(tree, path, change)
            after = statement(changed, path)
            if isinstance(node, (ast.Return, ast.Raise, ast.Expr)):
                after = f"{statement(tree, path)} -> {after}"
            spot = getattr(node, "test", node)
            lines = range(spot.lineno, spot.end_lineno + 1)
            name = f"{module} {function or '-'}: {after}"
            text = ast.unparse(ast.fix_missing_locations(changed))
            found.append(Mutant(name, lines, function, text))
    return found


def statement(tree, path):
    """Return the first line of the statement that a path leads into."""
    for name, place in path:
        tree = getattr(tree, name) if place is None else getattr(tree, name)[place]
        if isinstance(tree, ast.stmt):
            found = copy.copy(tree)
    if hasattr(found, "decorator_list"):
        found.decorator_list = []
    return ast.unparse(ast.fix_missing_locations(found)).partition("\n")[0]


def of_no_account(module):
    """Read what is listed for a module: the pattern of each line, by the line.

    A line without an indent names a module and a function, and those below it that have
    one are changes in that, each followed by the reason; ``...`` stands for any text.
    """
    patterns, place = {}, ""
    for line in EQUAL.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            place = line
        elif place.partition(" ")[0] == module:
            change, _, reason = line.strip().rpartition("  # ")
            if not (change.strip() and reason.strip()):
                raise SystemExit(f"no change or no reason given in {EQUAL}: {line}")
            name = f"{place}: {change.strip()}"
            patterns[name] = re.compile(re.escape(name).replace(r"\.\.\.", ".*"))
    return patterns


class Tests:
    """The tests of a module, collected, and which of them run which of its lines."""

    def __init__(self, module, session):
        self.module, self.session = module, session
        self.name = "linsep." + module.replace("/", ".")
        self.file = str(ROOT / PACKAGE / f"{module}.py")
        self.lines, self.seconds = {}, {}

    def run(self, items, watch=lambda item: contextlib.nullcontext()):
        """Run tests up to the first that fails; return how many failed."""
        hook = self.session.config.hook
        for item, following in itertools.pairwise([*items, None]):
            with watch(item):
                hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                break
        return self.session.testsfailed

    @contextlib.contextmanager
    def watched(self, item):
        """Note the lines of the module that a test runs, and how long it takes."""
        seen = self.lines.setdefault(item.nodeid, set())

        def line(frame, event, argument):
            seen.add(frame.f_lineno)
            return line

        def call(frame, event, argument):
            return line if frame.f_code.co_filename == self.file else None

        began = time.process_time()
        sys.settrace(call)
        yield
        sys.settrace(None)
        self.seconds[item.nodeid] = time.process_time() - began

    def look(self, options):
        """Run all tests once, in a process of its own; return whether one failed."""
        with tempfile.NamedTemporaryFile() as notes:

            def work():
                failed = self.run(self.session.items, self.watched)
                Path(notes.name).write_bytes(pickle.dumps((self.lines, self.seconds)))
                return failed

            in_child(work, 20 * options.seconds)
            _, status = os.wait()
            if status == 0:
                self.lines, self.seconds = pickle.loads(Path(notes.name).read_bytes())
        return status != 0

    def reaching(self, lines):
        """Return the tests that run any of these lines, the quickest first.

        All of them if none does, as where a default changes.
        """
        found = [i for i in self.session.items if self.lines[i.nodeid] & set(lines)]
        found = found or self.session.items
        return sorted(found, key=lambda item: self.seconds[item.nodeid])

    def starting_processes(self):
        """Return the tests of files that start processes."""
        texts = {i.path: i.path.read_text("utf-8") for i in self.session.items}
        return [i for i in self.session.items if "subprocess" in texts[i.path]]


def in_child(work, seconds):
    """Start work in a process of its own, in silence; return its number."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def swapped(name, function, text):
    """Put a mutant's code into the function there is; return whether that was done."""
    if not function:
        return False
    scope = {"__name__": name, "__package__": name.rpartition(".")[0]}
    there = sys.modules[name]
    exec(compile(text, there.__file__, "exec"), scope)
    first, *rest = function.split(".")
    old, new = getattr(there, first), scope[first]
    if inspect.isclass(old) and rest:
        old, new = vars(old).get(rest[0]), vars(new).get(rest[0])
    if not inspect.isfunction(old) or hasattr(old, "__wrapped__"):
        return False
    old.__code__ = new.__code__
    old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    return True


def tried(tests, mutant, folder):
    """Return 0 if the tests pass on a mutant."""
    sources = Path(folder, "src")
    shutil.copytree(ROOT / "src", sources, copy_function=os.symlink)
    there = Path(folder) / PACKAGE / f"{tests.module}.py"
    there.unlink()
    there.write_text(mutant.text, "utf-8")
    os.environ["PYTHONPATH"] = str(sources)  # for tests that start processes
    if swapped(tests.name, mutant.function, mutant.text):
        # Then those whose processes may run the line.
        reaching = tests.reaching(mutant.lines)
        others = [i for i in tests.starting_processes() if i not in reaching]
        return tests.run(reaching) or tests.run(others)
    sys.path.insert(0, str(sources))
    for name, there in list(sys.modules.items()):
        file = getattr(there, "__file__", None) or ""
        if file.startswith((str(ROOT / "src"), str(ROOT / "tests"))):
            del sys.modules[name]
    return pytest.main(arguments(tests.module))


def endings(tests, chosen, options):
    """Yield each mutant and whether a test failed on it, as they end."""
    running, waiting = {}, chosen[::-1]
    # No test takes longer than when it was watched, but on a busy machine.
    limit = max(options.seconds, 2 * math.ceil(sum(tests.seconds.values())))
    while waiting or running:
        if waiting and len(running) < options.jobs:
            mutant = waiting.pop()
            folder = tempfile.TemporaryDirectory()
            work = functools.partial(tried, tests, mutant, folder.name)
            running[in_child(work, limit)] = mutant, folder
            continue
        child, status = os.wait()
        mutant, folder = running.pop(child)
        folder.cleanup()
        yield mutant, status != 0


def arguments(module):
    """Return what pytest is told to run the tests of a module."""
    folder = ROOT / "tests" / module.partition("/")[0]
    names = TESTS.get(module, [module.rpartition("/")[2]])
    files = [str(folder / f"test_{name}.py") for name in names]
    quiet = ["-x", "-qq", "-s", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
    return [*quiet, *files]


class Judge:
    """A plugin of pytest that tries the mutants where else the tests would be run."""

    def __init__(self, module, options):
        self.module, self.options, self.enough = module, options, False

    def pytest_runtestloop(self, session):
        """Print the mutants of a module that live, and the share of those noticed.

        The process that has collected the tests is forked for every mutant.
        """
        began = time.monotonic()
        tests = Tests(self.module, session)
        if tests.look(self.options):
            raise SystemExit(f"the tests of {self.module} fail on the module as it is")
        gc.freeze()
        every = mutants(self.module)
        listed = of_no_account(self.module)
        for name, pattern in listed.items():
            if not any(pattern.fullmatch(mutant.name) for mutant in every):
                raise SystemExit(f"{EQUAL} lists what is no mutant: {name}")
        if self.options.among is not None:
            wanted = set(map(str.strip, self.options.among.read_text().splitlines()))
            every = [mutant for mutant in every if mutant.name in wanted]
        size = min(self.options.sample, len(every))
        chosen = random.Random(self.options.seed).sample(every, size)
        left = [
            mutant
            for mutant in chosen
            if not any(p.fullmatch(mutant.name) for p in listed.values())
        ]
        n_noticed, n_listed = 0, size - len(left)
        for mutant, noticed in endings(tests, left, self.options):
            n_noticed += noticed
            if not noticed:
                print(mutant.name, flush=True)
        score = 100 * n_noticed / len(left) if left else 100
        self.enough = score >= ENOUGH
        print(
            f"# {self.module}: {size} of {len(every)} mutants tried, "
            f"{n_noticed} noticed, {n_listed} of no account, "
            f"{len(left) - n_noticed} unnoticed: {score:.1f} % "
            f"({time.monotonic() - began:.0f} s)",
            flush=True,
        )
        return True


def main():
    """Judge the modules named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=["proof/checker"])
    parser.add_argument("--sample", type=int, default=100, help="of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=120, help="of the processor")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--among", type=Path, help="a file: only mutants it has a line of"
    )
    options = parser.parse_args()
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads may not fork
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    sys.dont_write_bytecode = True
    for name in PRELOADED:
        importlib.import_module(name)
    judges = [Judge(module, options) for module in options.modules]
    for judge in judges:
        pytest.main(arguments(judge.module), plugins=[judge])
    sys.exit(not all(judge.enough for judge in judges))


if __name__ == "__main__":
    main()
