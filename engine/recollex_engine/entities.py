import re
def mentions(text, speaker=None):
    r=[speaker] if speaker else []
    return list(dict.fromkeys(r+re.findall(r"(?<!^)\b[A-Z][a-z]+",text)))
class EntityTable:
    def __init__(s): s.d={}
    def add(s,a,b): s.d[a.casefold()]=b
    def get(s,a): return s.d.get(a.casefold())
    def resolve(s,*a): return None
def fold(x): return x.casefold()
