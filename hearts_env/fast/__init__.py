"""The compiled executor: the same functions as in `game` and `observe`, with the same results to the last bit."""
