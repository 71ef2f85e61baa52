"""The program `hearts`."""
