"""What a network sees: a View as bytes, and a whole table as bytes for a central critic."""
