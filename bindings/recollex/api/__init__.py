"""The Python API: one class for each thing that a user holds."""
