"""A recollex agent as the memory of an agent framework: one module a framework.

A module imports its framework, so nothing here is imported before it is used. Each is an extra of
the same name: ``pip install 'recollex[langgraph]'``. See docs/adapters.md.
"""
