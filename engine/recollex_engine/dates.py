from dataclasses import dataclass
@dataclass(frozen=True)
class TimeRange:
    start:int; end:int; text:str; span:tuple
def find_range(t,now,tz=None): return None
def resolve(t,at,tz=None): return None
