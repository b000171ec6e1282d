"""Descriptions of a change, and the objects they lead to.

All functions answer with a new object that shares the parts that did not change with the old one; neither the old
object nor the patch is changed.
"""
