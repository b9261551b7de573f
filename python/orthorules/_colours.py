"""Colours that tables and pictures of a model share."""

UP, DOWN = "#2a9d64", "#c8553d"
