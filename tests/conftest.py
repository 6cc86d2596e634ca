"""What all tests share: generated examples are not timed, because machines differ."""

from hypothesis import settings

settings.register_profile("book", deadline=None)
settings.load_profile("book")
