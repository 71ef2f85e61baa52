"""Statistics of tournaments: estimates over deal ids, sequential tests, control variates, ratings."""
