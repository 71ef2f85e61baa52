"""One update: the network, rollouts, returns, and the compiled update."""
