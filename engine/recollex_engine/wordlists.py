"""The English word lists that the analyzer and the name finder share, and nothing else.

Each list is a frozen set of folded words (lower case, straight apostrophes). They are part of what
`ANALYZER_VERSION` in `analyzer` versions: changing `STOP_WORDS` changes stored postings.
"""

_STOP_WORDS = """
a about all also am an and any are as at be because been being both but by could did do does
doing done each for from had has have having he her here hers herself him himself his how i if
in into is it its itself just me my myself of on or our ours ourselves own same she should so
some such than that the their theirs them themselves then there these they this those to too
very was we were what when where which while who whom whose why with would you your yours
yourself yourselves
ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't
shan't shouldn't wasn't weren't won't wouldn't
arent couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats theyre wasnt
werent whats wouldnt youre youve
http https www
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that carry no term. `will`, `may`, `can`, `no`, `not` and `us` are not among them: each is
also a name or turns a statement round, and BM25 weighs a common word down by itself."""
