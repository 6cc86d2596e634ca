"""What all tests share: how Hypothesis generates examples.

`make test` tries the same examples every time, so that it passes or fails by what was changed;
`make test-all` looks for new ones. None is timed, because machines differ.
"""

import os

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
