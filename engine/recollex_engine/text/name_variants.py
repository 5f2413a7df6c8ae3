"""Names that differ in writing and are equal all the same: legal forms and English diminutives.

TEMPR and Memora (2.3.2 of both) resolve "Google Inc" to "Google" and "Bob" to "Robert" by the
Levenshtein distance. By that distance the names are 0.6 and 0.33 alike, too little for the
threshold that Memora prints. So the printed rule looks at these tables first.
"""

_LEGAL_FORMS = """
inc incorporated corp corporation co company ltd limited llc llp plc gmbh ag sa bv nv pty oy ab as
"""
_LEGAL = frozenset(_LEGAL_FORMS.split())
_FAMILIES = """
robert bob bobby rob robbie robby
william bill billy willy willie
richard dick rick ricky
james jim jimmy jimmie
john johnny jack
joseph joe joey
michael mike mikey mick
thomas tom tommy
charles charlie chuck
edward ed eddie ted
david dave davey
daniel dan danny
matthew matt
anthony tony
andrew andy drew
steven steve stephen stevie
kenneth ken kenny
ronald ron ronnie
donald don donnie
timothy tim timmy
gregory greg
jeffrey jeff
nicholas nick nicky
benjamin ben benny benji
peter pete
philip phil phillip
lawrence larry laurence
gerald gerry
raymond ray
frederick fred freddie freddy
henry hank harry
walter walt
leonard len lenny
douglas doug
zachary zach zack
nathaniel nate
joshua josh
jonathan jon
vincent vince vinny
theodore theo
elizabeth liz lizzie beth betty eliza
margaret maggie meg peggy
katherine kate katie kathy catherine cathy
jennifer jen jenny
susan sue suzie
deborah deb debbie
barbara barb
rebecca becky becca
dorothy dot dottie
victoria vicky
jessica jess jessie
christina tina christine
abigail abby
amanda mandy
cynthia cindy
judith judy
pamela pam
theresa terri tess
melanie mel
"""
_FORMAL = {
    short: formal
    for formal, *others in (family.split() for family in _FAMILIES.strip().splitlines())
    for short in others
}


def plain_name(folded: str) -> str:
    """Return the plain form of a name that `names.fold_name` made: two such names are equal.

    Legal forms at the end are left out. Else the first word becomes the formal name where it is a
    diminutive of one; diminutives of several names (Alex, Sam, Chris, Pat) stay.

    >>> plain_name("google inc"), plain_name("acme co ltd"), plain_name("bob chen")
    ('google', 'acme', 'robert chen')
    """
    words = folded.replace(",", " ").split()
    end = len(words)
    while end > 1 and words[end - 1] in _LEGAL:
        end -= 1
    if words and end == len(words):
        words[0] = _FORMAL.get(words[0], words[0])
    return " ".join(words[:end])
