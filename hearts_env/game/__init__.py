"""The game itself over whole arrays of tables: rules, states, legal actions, steps, scores, views."""
