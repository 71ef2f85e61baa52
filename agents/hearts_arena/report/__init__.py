"""Reports of a tournament for people: on the terminal, as HTML, as pictures."""
