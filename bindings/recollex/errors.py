"""The errors that recollex raises; all derive from `RecollexError`.

>>> from recollex.errors import InputError
>>> import recollex, tempfile
>>> try:
...     recollex.open(tempfile.mkdtemp()).agent("alice").retain("")
... except InputError as error:
...     print(error)
text is empty: give at least one character that is not a space
"""

from recollex_engine.errors import *  # noqa: F403  # they are listed there, with what to do
