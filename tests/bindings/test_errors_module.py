"""`recollex.errors` is a module, and has every error that is raised."""

import inspect

import pytest

import recollex
import recollex.errors
from recollex_engine import errors as raised


def test_every_error_can_be_imported_from_recollex_errors():
    kinds = {
        name: kind
        for name, kind in inspect.getmembers(raised, inspect.isclass)
        if kind.__module__ == raised.__name__
    }
    assert {name: getattr(recollex.errors, name) for name in kinds} == kinds
    assert recollex.errors.RecollexError is kinds["RecollexError"]


def test_an_error_that_is_looked_for_in_the_package_is_named():
    with pytest.raises(AttributeError, match=r"'InputError': it is recollex\.errors\.InputError$"):
        _ = recollex.InputError
    with pytest.raises(AttributeError, match=r"no attribute 'NoSuchError'$"):
        _ = recollex.NoSuchError
    with pytest.raises(AttributeError) as caught:
        _ = recollex.conect
    assert (caught.value.name, caught.value.obj) == ("conect", recollex)  # Python's hint needs them
