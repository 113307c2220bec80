"""One browser for each process of the run."""

from collections.abc import Iterator

import pytest

from tests.support.required import missing
from tests.system.browser.chromium import CHROMIUM, Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser. The test is skipped where there is none."""
    if CHROMIUM is None:
        missing("chromium", "apt-get install chromium")
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()
