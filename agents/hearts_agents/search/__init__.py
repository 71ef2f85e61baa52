"""The search agent: Monte-Carlo search over determinizations."""
