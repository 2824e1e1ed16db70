"""Settings for all tests."""

from hypothesis import settings

# The machine is shared: how long an example takes says nothing about the code.
settings.register_profile("likewise", deadline=None)
settings.load_profile("likewise")
