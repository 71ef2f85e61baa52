"""Small Hearts solved exactly: game trees, best responses, NashConv."""
