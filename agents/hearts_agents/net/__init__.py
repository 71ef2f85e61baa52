"""The agent that plays by a trained network, and its weights files."""
