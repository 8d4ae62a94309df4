"""The bundled sample class: learners made from the built exercises, so that they never drift from them."""
