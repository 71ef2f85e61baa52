"""A training run: settings, evaluations, checkpoints, worker processes, logs."""
