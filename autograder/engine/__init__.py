"""Where judge and box run: one hand-in, and a class of them."""
