"""Training agents for Hearts by self-play, and the `hearts` program."""
