"""The inputs of networks: a View as bytes, and a whole table as bytes for a privileged (asymmetric) critic."""
