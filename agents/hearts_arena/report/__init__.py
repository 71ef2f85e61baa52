"""What a tournament shows to people: on the terminal, as HTML, as pictures."""
