"""The library behind `hearts bench`: layers, plans, timing by turns."""
