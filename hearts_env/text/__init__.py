"""Text: notation, records of deals, tables and views in words."""
