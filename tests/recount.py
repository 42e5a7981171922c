"""Every sentence of a diagnosis counted again, from a frame and its design alone.

A line that no pattern here knows is an error: a new class of sentence needs a recount.
"""

import re
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd

import linsep

NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
COMPARISON = re.compile(rf"(?P<name>[^ ]+) (?P<sign>>=|<=|>|<) (?P<value>{NUMBER})")
BETWEEN = re.compile(rf"({NUMBER}) <= ([^ ]+) <= ({NUMBER})")
CLAIM = re.compile(
    r"(?P<where>.+?)(?: in |: )(?:(?P<n_observed>[\d,]+) observations? in )?"
    r"(?P<n>[\d,]+) rows?, (?P<how>all|never|only) (?P<outcomes>.+)\."
)
KNOWN_FROM_ELSEWHERE = (
    "Standard errors, Wald tests",
    "Usual remedies, none chosen",
    "There was no time to look at",
    "Not decided within",
    "Nearly collinear",
    "Text and categories as columns",
)


class Recount:
    """A regression as a frame and a design, and a summary to be judged by them.

    Parameters
    ----------
    answer : Diagnosis
    values : DataFrame
        What conditions speak of, by name: factors, numbers, columns of the design.
    y : sequence
        The outcome of each row; of grouped counts pairs.
    columns : DataFrame
        The design without a constant.
    """

    def __init__(self, answer, values, y, columns, has_constant=True):
        self.answer, self.values, self.columns = answer, values, columns
        self.y, self.has_constant = list(y), has_constant
        self.present = np.union1d(answer.separated_rows, answer.overlapped_rows)
        self.lines = answer.sentences()
        self.claims = []
        self.seen = set()

    def judge(self):
        """Recount all lines; return the kinds that were met."""
        for line in self.lines:
            self.judge_line(line)
        return self.seen

    def judge_line(self, line):
        for kind, pattern, check in self.rules():
            match = re.fullmatch(pattern, line)
            if match:
                self.seen.add(kind)
                check(match)
                return
        raise AssertionError(f"a sentence nobody recounts: {line!r}")

    def rules(self):
        rows_part = r"(?:(?:Separated rows|Rows that conflict) \((?P<what>[^)]*)\): "
        rows_part += r"(?P<rows>[^.]*)\. )?"
        yield (
            "headline",
            r"(Complete|Quasi-complete|Overlap).*\((.*?)\): (.*)",
            self.head,
        )
        yield "any labels", r"Any labels would be separable.*", self.any_labels
        yield (
            "rows",
            rows_part + r"(?P<exists>No finite maximum likelihood estimate exists\.)"
            r"(?: What to do: .*)?",
            self.rows_line,
        )
        yield (
            "exists",
            r"The maximum likelihood estimate(?P<which>.*) exists\."
            r"(?: Rows that conflict \(.*\): (?P<rows>[^.]*)\.)?",
            self.exists,
        )
        yield (
            "chance",
            r"(Separation (says little|is informative)|For comp).*",
            self.chance,
        )
        yield (
            "simplest",
            r"The simplest direction found uses one column, (.*)\.",
            self.one,
        )
        yield "no other", r"No other row is separated\.", self.no_other
        yield (
            "together",
            r"Together these predict all of the rows separated\.",
            self.all,
        )
        yield (
            "others",
            r"The other (?:([\d,]+) rows are|row is) predicted .*",
            self.others,
        )
        yield (
            "none needed",
            r"No column is needed: the (\w+) alone .*",
            self.none_needed,
        )
        yield "direction", r".* uses (?:at most )?\d+ columns?: (.*)", self.direction
        yield "more", r"[\d,]+ more (?:columns?|levels?) .*", lambda match: None
        yield (
            "distinct",
            r"([\d,]+) distinct rows? of columns among ([\d,]+) rows?\.",
            (self.distinct),
        )
        yield (
            "contradictions",
            (r"([\d,]+) rows? (?:share all|holds? both|stand where both).*"),
            self.mixed,
        )
        yield (
            "collinear",
            r"Collinear columns.* rank (\d+) of (\d+); .*",
            self.collinear,
        )
        yield (
            "one class",
            r"(?:One class only: e|E)very row has (.*?)(?:, which.*|\.)",
            (self.one_class),
        )
        yield (
            "weight zero",
            r"([\d,]+) rows? of weight zero counted as absent\.",
            (self.weight_zero),
        )
        yield "remedy", r"  - (.*)", self.remedy
        yield (
            "estimates",
            (
                r"(?:With .* left out: )?(Estimates that go to \+inf|"
                r"[Ee]stimates that go to [-+]inf|[Cc]ould be anything.*?|"
                r"[Ff]inite estimates|Not identified.*?): (.*)\."
            ),
            self.estimates,
        )
        yield "claim", CLAIM.pattern, self.claim
        yield "no order", r"No order of y is declared.*?: (.*?)\. Another.*", self.order
        yield "unused", r"No row present has (.*)\.", self.unused
        yield (
            "left",
            r"What is said here is of the ([\d,]+) rows? left\.",
            self.rows_left,
        )
        for start in KNOWN_FROM_ELSEWHERE:
            yield "known", re.escape(start) + ".*", lambda match: None

    # What each kind of sentence says, from the data.

    def where(self, text):
        """Tell which of the rows present meet a condition."""
        met = np.zeros(len(self.values), dtype=bool)
        met[self.present] = True
        if text.startswith("not ("):
            return met & ~self.where(text.removeprefix("not (").removesuffix(")"))
        between = BETWEEN.fullmatch(text)
        if between:
            x = self.values[between[2]].to_numpy(float)
            return met & (x >= float(between[1])) & (x <= float(between[3]))
        for part in text.split(" and "):
            comparison = COMPARISON.fullmatch(part)
            if comparison:
                x = self.values[comparison["name"]].to_numpy(float)
                value = float(comparison["value"])
                # Decimals of the sentence separate the values themselves.
                assert len(comparison["value"].lstrip("-")) <= 18
                met &= {
                    ">": x > value,
                    ">=": x >= value,
                    "<": x < value,
                    "<=": x <= value,
                }[comparison["sign"]]
            elif " other than " in part:
                name, level = part.split(" other than ")
                levels = level.removesuffix(" (the reference level)").split(", ")
                column = self.values[name]
                if pd.api.types.is_numeric_dtype(column):
                    met &= ~column.isin([float(text) for text in levels]).to_numpy()
                else:
                    met &= ~column.astype(str).isin(levels).to_numpy()
            else:
                name, level = part.split(" = ")
                column = self.values[name]
                if pd.api.types.is_numeric_dtype(column):
                    met &= column.to_numpy(float) == float(level)
                else:
                    met &= (column.astype(str) == level).to_numpy()
        return met

    def outcomes(self, text):
        """Return the outcomes that a sentence names, as texts."""
        names = text.removeprefix("y = ")
        return names.split(" or ")

    def held(self, row):
        """Return the outcomes of a row, as texts."""
        y = self.y[row]
        if isinstance(y, tuple):
            return {n for n, count in zip(("success", "failure"), y) if count}  # noqa: B905
        return {str(y)}

    def head(self, match):
        status, separated = match[1].lower(), self.answer.separated_rows.size
        n = self.present.size
        expected = "overlap" if not separated else "quasi-complete"
        expected = "complete" if separated == n else expected
        numbers = [int(t.replace(",", "")) for t in re.findall(r"[\d,]*\d", match[3])]
        assert self.answer.status == status
        if status == "quasi-complete" and not separated:
            assert not numbers
            return
        assert status == expected
        assert numbers[-1] == n
        if status == "quasi-complete":
            assert numbers[-2] == separated

    def claim(self, match):
        met = np.flatnonzero(self.where(match["where"]))
        assert met.size == int(match["n"].replace(",", ""))
        if match["n_observed"]:
            observed = int(match["n_observed"].replace(",", ""))
            assert observed == sum(sum(self.y[row]) for row in met)
        named = self.outcomes(match["outcomes"])
        kinds = [self.held(row) for row in met]
        if match["how"] == "never":
            assert not any(kind & set(named) for kind in kinds)
            left = self.levels() - set(named)
        else:
            assert all(kind <= set(named) for kind in kinds)
            left = set(named)
        if match["how"] == "all":
            assert np.isin(met, self.answer.separated_rows).all()
        self.claims.append((set(met.tolist()), left))

    def levels(self):
        return {text for row in self.present for text in self.held(row)}

    def unpredicted(self):
        """Return the separated rows that all claims together leave open."""
        rows = []
        for row in self.answer.separated_rows.tolist():
            left = self.levels()
            for met, outcomes in self.claims:
                if row in met:
                    left = left & outcomes
            if left != self.held(row):
                rows.append(row)
        return rows

    def is_cut(self):
        return any(re.match(r"[\d,]+ more (col|lev)", line) for line in self.lines)

    def all(self, match):
        assert self.is_cut() or not self.unpredicted()

    def no_other(self, match):
        assert not self.unpredicted()

    def one(self, match):
        column = self.columns[[match[1]]]
        separated = set(self.answer.separated_rows.tolist())
        alone = linsep.diagnose(
            column.to_numpy()[self.present],
            [self.y[row] for row in self.present],
            family=self.answer.family,
            fit_intercept=self.has_constant or self.has_column_of_ones(),
        )
        assert set(self.present[alone.separated_rows].tolist()) == separated

    def has_column_of_ones(self):
        used = self.columns.to_numpy()[self.present]
        return bool(((used == used[:1]).all(axis=0) & (used[0] != 0)).any())

    def others(self, match):
        if not self.is_cut():
            left = len(self.unpredicted())
            assert left == (int(match[1].replace(",", "")) if match[1] else 1)

    def none_needed(self, match):
        assert match[1] in ("intercept", "thresholds")
        alone = linsep.diagnose(
            np.empty((self.present.size, 0)),
            [self.y[row] for row in self.present],
            family=self.answer.family,
        )
        assert alone.status == "complete"

    def rows_line(self, match):
        if match["rows"]:
            assert match["what"] == "counted from 0"
            found = [
                int(n) for n in re.findall(r"\d+", match["rows"].split(" and ")[0])
            ]
            assert found == self.answer.separated_rows[: len(found)].tolist()
            more = re.search(r"and ([\d,]+) more", match["rows"])
            n_more = int(more[1].replace(",", "")) if more else 0
            assert len(found) + n_more == self.answer.separated_rows.size
        assert self.answer.status != "overlap"

    def exists(self, match):
        assert self.answer.status == "overlap"
        assert bool(match["which"]) == ("aliased" in self.answer.estimates.values())
        if match["rows"] and "more" not in match["rows"]:
            rows = [int(n) for n in match["rows"].split(", ")]
            alone = linsep.separate(
                self.columns.to_numpy()[rows],
                [self.y[row] for row in rows],
                fit_intercept=self.has_constant,
            )
            assert alone.separable is False

    def direction(self, match):
        text, *effect = re.split(
            r"(?: is never negative where | is 0 wherever |, along which |; see )",
            match[1],
        )
        if match[1].startswith("about ") or "see `direction`" in match[1]:
            return
        if self.answer.family in ("multinomial", "ordinal"):
            n = re.match(r"([\d,]+) rows? (?:is|are) predicted", effect[0])
            assert n is None or int(n[1].replace(",", "")) <= len(self.y)
            return
        value = self.combination(text)
        rows = self.present
        positive = np.array([self.is_positive(row) for row in rows])
        mixed = np.array([len(self.held(row)) > 1 for row in rows])
        value = np.array([value[row] for row in rows])
        told = re.search(r"not 0 in ([\d,]+) row|along which ([\d,]+) row", match[1])
        assert (value != 0).sum() == int((told[1] or told[2]).replace(",", ""))
        if len(self.levels()) == 1:  # to the side that the only outcome is on
            assert (value >= 0).all() or (value <= 0).all()
            return
        if self.answer.family == "poisson":
            assert not (value[positive] != 0).any()
            assert not (value > 0).any()
        else:
            assert not (value[mixed] != 0).any()
            assert not (value[positive] < 0).any()
            assert not (value[~positive] > 0).any()

    def is_positive(self, row):
        if self.answer.family == "poisson":
            return self.y[row] > 0
        if isinstance(self.y[row], tuple):
            return self.y[row][0] > 0
        return self.y[row] == sorted(set(self.y))[-1]

    def combination(self, text):
        """Evaluate "2*a - 1/3*b + 4" exactly, on every row."""
        total = [Fraction(0)] * len(self.values)
        for sign, term in re.findall(r"(^-?|[-+] )([^ ]+)", text):
            factor, star, name = term.rpartition("*")
            if not star and term in self.columns:
                factor, name = "1", term
            elif not star:
                factor, name = term, None
            number = Fraction(factor) * (-1 if "-" in sign else 1)
            column = [1] * len(total) if name is None else self.columns[name].tolist()
            total = [
                old + number * Fraction(x) for old, x in zip(total, column, strict=True)
            ]
        return total

    def design(self):
        ones = [np.ones(len(self.y))] if self.has_constant else []
        return np.column_stack([*ones, self.columns.to_numpy(float)])[self.present]

    def distinct(self, match):
        rows = {tuple(row) for row in self.columns.to_numpy()[self.present].tolist()}
        assert [int(n.replace(",", "")) for n in match.groups()] == [
            len(rows), self.present.size,
        ]  # fmt: skip

    def mixed(self, match):
        seen = {}
        for row in self.present.tolist():
            key = tuple(self.columns.to_numpy()[row].tolist())
            seen.setdefault(key, set()).update(self.held(row))
        mixed = [
            row
            for row in self.present.tolist()
            if len(seen[tuple(self.columns.to_numpy()[row].tolist())]) > 1
        ]
        assert len(mixed) == int(match[1].replace(",", ""))
        named = [int(n) for n in re.findall(r"\d+", match[0].partition("(")[2])]
        assert set(named) <= set(mixed)
        if len(named) == 2:
            assert self.held(named[0]) != self.held(named[1])

    def collinear(self, match):
        assert int(match[1]) == self.answer.rank < int(match[2])
        if self.answer.family not in ("multinomial", "ordinal"):
            assert np.linalg.matrix_rank(self.design()) == self.answer.rank

    def one_class(self, match):
        outcome = match[1].removeprefix("y = ")
        assert self.levels() == {outcome}

    def order(self, match):
        levels = match[1].split(" < ")
        assert levels == sorted(self.levels())
        names = [name for name in self.answer.estimates if "|" in name]
        assert names == [f"{a}|{b}" for a, b in zip(levels, levels[1:])]  # noqa: B905, RUF007

    def unused(self, match):
        present = self.values.iloc[self.present]
        for part in match[1].partition(" and ")[0].split(", "):
            name, level = part.split(" = ")
            column = self.y if name == "y" else self.values[name].tolist()
            held = [column[row] for row in self.present]
            texts = {str(v) for v in held} | {str(v).removesuffix(".0") for v in held}
            assert level not in texts
        assert len(present) == self.present.size

    def rows_left(self, match):
        assert int(match[1].replace(",", "")) == self.present.size

    def weight_zero(self, match):
        assert int(match[1].replace(",", "")) == len(self.y) - self.present.size

    def estimates(self, match):
        verdict = {
            "estimates that go to +inf": "+inf",
            "estimates that go to -inf": "-inf",
            "finite estimates": "finite",
        }.get(match[1].lower(), "undetermined")
        if match[1].startswith("Not identified"):
            verdict = "aliased"
        given = self.answer.estimates
        if match[0].startswith("With"):
            given = self.answer.estimates_without_aliased
        *names, last = match[2].split(", ")
        last, _, more = last.partition(" and ")
        for name in [*names, last]:
            assert given[name] == verdict
        if not match[0].startswith("With"):
            n_more = int(more.split()[0]) if more else 0
            total = sum(found == verdict for found in given.values())
            assert len(names) + 1 + n_more == total

    def any_labels(self, match):
        distinct = np.unique(self.columns.to_numpy()[self.present], axis=0)
        n = int(re.search(r"the ([\d,]+) distinct rows", match[0])[1].replace(",", ""))
        assert len(distinct) == n == np.linalg.matrix_rank(self.design())
        assert f"2^{n} labellings" in match[0]

    def chance(self, match):
        """Count separable labellings as Cover does, and compare the bounds."""
        distinct, group = np.unique(
            self.columns.to_numpy()[self.present], axis=0, return_inverse=True
        )
        n, rank = len(distinct), np.linalg.matrix_rank(self.design())
        rows = self.present[np.flatnonzero([self.is_positive(r) for r in self.present])]
        positive = np.unique(group.ravel()[np.searchsorted(self.present, rows)]).size
        count = 2 * sum(comb(n - 1, k) for k in range(rank))
        any_balance = min(1, Fraction(count, 2**n))
        half = 1 if 2 * positive == n else Fraction(1, 2)
        same_balance = min(1, Fraction(count) * half / comb(n, positive))
        text = match[0]
        assert f"{n:,} distinct rows" in text
        assert f"rank {rank}" in text
        if "in the last class" in text:
            assert f"with {positive:,} of them" in text
        said = [float(v) for v in re.findall(rf"(?:at most|up to) ({NUMBER})", text)]
        bounds = [any_balance, same_balance]
        if "one class has only" in text:
            assert f"only {min(positive, n - positive)} of" in text
            bounds = [same_balance]
        for shown, bound in zip(said, bounds, strict=False):
            assert float(bound) <= shown * (1 + 1e-12)
            assert shown <= 1.11 * float(bound)
        is_likely = max(any_balance, same_balance) > Fraction(1, 20)
        if "says little" in text:
            assert is_likely
        if "is informative" in text:
            assert not is_likely

    def remedy(self, match):
        text = match[1]
        everything = self.columns.columns
        if "does not bring the estimate back" in text:
            assert self.status_of(self.answer.overlapped_rows, everything) != "overlap"
        elif "separated" in text and "brings the estimate back" in text:
            assert self.status_of(self.answer.overlapped_rows, everything) == "overlap"
            n = int(re.search(r"([\d,]+) rows? separated", text)[1].replace(",", ""))
            assert n == self.answer.separated_rows.size
            gone = re.search(r" and the columns? (.*), which (?:is|are)", text)
            if gone and " more" not in gone[1]:
                left = [c for c in everything if c not in gone[1].split(", ")]
                self.assert_independent(self.answer.overlapped_rows, left)
            elif not gone:
                self.assert_independent(self.answer.overlapped_rows, list(everything))
        elif "that predict perfectly" in text:
            without = re.search(r"without (.*) the estimate exists", text)[1]
            if " more" not in without:
                left = [c for c in everything if c not in without.split(", ")]
                assert self.status_of(self.present, left) == "overlap"
                gone = [c for c in without.split(", ") if "[" in c and ":" not in c]
                has_reference = all("[T." in name for name in gone)
                if "merged with" in text:
                    assert ("merged with the reference" in text) == has_reference

    def status_of(self, rows, columns):
        """Diagnose a part of the regression, from its numbers."""
        return linsep.diagnose(
            self.columns[list(columns)].to_numpy()[rows],
            [self.y[row] for row in rows],
            family=self.answer.family,
            fit_intercept=self.has_constant or self.answer.family == "ordinal",
        ).status

    def assert_independent(self, rows, columns):
        block = self.columns[columns].to_numpy(float)[rows]
        if self.has_constant or self.answer.family == "ordinal":
            block = np.column_stack([np.ones(len(rows)), block])
        assert np.linalg.matrix_rank(block) == block.shape[1]
