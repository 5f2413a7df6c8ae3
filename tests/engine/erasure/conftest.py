"""Modules beside the tests whose assertions are shown in full when they fail."""

import pytest

pytest.register_assert_rewrite("tests.engine.erasure.traces")
