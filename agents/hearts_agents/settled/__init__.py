"""Choices whose outcome can be worked out: dominated actions, found by arithmetic on what a seat can see."""
