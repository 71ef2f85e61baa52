"""Pictures of a table: frames for a film, HTML for a notebook."""
