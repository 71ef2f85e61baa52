"""Where agents meet: duplicate tournaments, their statistics, and reports."""
