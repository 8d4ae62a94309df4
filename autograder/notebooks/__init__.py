"""nbgrader: reads whatever was handed in, lets the engine grade it, keeps the gradebook and the feedback pages."""
