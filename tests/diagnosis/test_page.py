"""The page docs/diagnose.rst shows what really comes out."""

import doctest

from helpers import ROOT


def test_every_output_on_the_page_is_real():
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "diagnose.rst"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert tried > 20
    assert failed == 0
