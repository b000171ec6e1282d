"""CEL as Kubernetes uses it: validation rules of custom resources, and expressions of admission.

The parser is cel-cpp's. Types, evaluation and functions are Butler's own, because objects have to be judged in the
words of kube-apiserver and read where they lie, without a conversion per rule.
"""

from __future__ import annotations

from .checking import check_rules
from .expression import Expression
from .ruleset import RuleSet, compile_rules
from .values import CelError, CompileError

__all__ = ["CelError", "CompileError", "Expression", "RuleSet", "check_rules", "compile_rules"]
