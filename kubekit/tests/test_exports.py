"""What can be imported from kubekit itself."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

import kubekit
from kubekit.runtime.reconciler import Reconciler


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(inspect.getsource(kubekit))
    guarded = next(one for one in tree.body if isinstance(one, ast.If))
    imports = [one for one in guarded.body if isinstance(one, ast.ImportFrom)]
    return {each.asname or each.name for one in imports for each in one.names}


def test_type_checkers_are_told_of_the_names_that_there_are() -> None:
    assert {*names_for_type_checkers(), "__version__"} == set(kubekit.__all__)
    assert [name for name in kubekit.__all__ if not hasattr(kubekit, name)] == []


def test_a_name_is_the_one_of_its_module() -> None:
    assert kubekit.Reconciler is Reconciler
    assert set(kubekit.__all__) <= set(dir(kubekit))


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Controler'"):
        _ = kubekit.Controler  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="Controler"):
        exec("from kubekit import Controler")


@pytest.mark.parametrize("code", ["import kubekit", "from kubekit import Resource, Status, InvalidConfiguration"])
def test_importing_it_loads_only_what_is_used(code: str) -> None:
    heavy = ("aiohttp", "asyncio", "cryptography", "jsonschema_rs", "kubekit.server")
    program = f"import sys; {code}; print([one for one in {heavy} if one in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
