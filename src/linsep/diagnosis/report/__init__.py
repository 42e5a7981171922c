"""The words of a diagnosis."""
