"""Agents in other processes: the protocol `hearts-agent/1`, both ends of it."""
