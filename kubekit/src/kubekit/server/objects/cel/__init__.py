"""CEL as Kubernetes uses it: validation rules of custom resources, and expressions of admission.

The parser is cel-cpp's. Types, evaluation and functions are our own, because objects have to be judged in the
words of kube-apiserver and read where they lie, without a conversion per rule.
"""

from __future__ import annotations

from .expression import Expression
from .language.values import CelError, CompileError
from .rule_check import check_rules
from .ruleset import RuleSet, compile_rules

__all__ = ["CelError", "CompileError", "Expression", "RuleSet", "check_rules", "compile_rules"]
