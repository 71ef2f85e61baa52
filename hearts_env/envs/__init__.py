"""The PettingZoo and gymnasium environments."""
