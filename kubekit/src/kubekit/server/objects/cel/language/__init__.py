"""The language: from the text of an expression to its value."""
