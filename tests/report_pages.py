"""A browser for the tests of pages: the machine's own, without a network."""

import os
import shutil
from contextlib import contextmanager

import pytest

# Debian's name first; a path of another browser of that family may be given.
BROWSERS = (os.environ.get("LINSEP_TEST_BROWSER", ""), "chromium", "google-chrome")


@contextmanager
def browser():
    """Start a headless browser; skip the test where the machine has none."""
    found = [path for name in BROWSERS if name and (path := shutil.which(name))]
    if not found:
        pytest.skip("no browser here: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=found[0], args=["--no-sandbox"]
        )
        try:
            yield started
        finally:
            started.close()


def opened(started, path, *, width=1200, scheme="light"):
    """Open a page from the file system offline; collect what it complains of."""
    context = started.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: page.complaints.append("a dialog opened"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith("file://")
            else page.complaints.append(request.url)
        ),
    )
    page.goto(path.as_uri())
    return page
