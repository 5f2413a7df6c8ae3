"""Numba kernels: arrays in, arrays out. No files, no strings, no state."""
