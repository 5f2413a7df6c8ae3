"""What does a name name? A rule says it, of its words and its sentence, or spaCy's models.

No model reads the text. The rule is English, as `names.find_names` is; the lists of places and of
given names serve other languages too. A name that says nothing of itself in a sentence that says
nothing of it is `OTHER`.

The words by which `type_rule` knows what a name names: written for it, from general knowledge.
A list is never complete; a name that none of them has is `OTHER` unless its sentence tells more.

What do names name, as spaCy's models see it (Memora 2.3.1)? Loaded when a text first needs it.
The names are those of the rule; spaCy only says what they are, so what is found by names does not
depend on what is installed. A name has the type of the entity that spaCy finds at it.
"""

import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import (
    CONCEPT,
    LOCATION,
    ORGANIZATION,
    OTHER,
    PERSON,
    PRODUCT,
    EntityType,
    known_type,
)
from recollex_engine.text.names import EntityRule, check_entity_rule, fold_name


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.split(",") if line.strip())


HONORIFICS = _set("mr mrs ms miss dr prof professor sir madam aunt auntie uncle grandma grandpa")
GIVEN_NAMES = _set("""
aaron abby abigail ada adam adrian agnes ahmed aidan aisha alan albert alejandro alex alexander
alexandra alfred ali alice alicia alina allison alma amanda amber amelia amir amy ana anders andre
andrea andreas andrew andy angela anita ann anna anne annie anthony anton antonio april ariana
arthur asher astrid audrey austin ava barbara beatrice becky ben benedict benjamin bernard beth
betty bill billy bjorn bob bobby boris brandon brenda brian bridget bruce bruno calvin camila carl
carla carlos carmen carol caroline carolyn catherine cathy cecilia charles charlie charlotte chen
chloe chris christian christina christine christopher claire clara claudia clement colin connor
craig cindy cynthia daisy dan daniel daniela danielle danny darren dave david dean debbie deborah
dennis diana diane diego dmitri donald donna doris dorothy doug douglas dylan ed eddie edgar edith
edward elaine eleanor elena eli elias elijah elisa elizabeth ella ellen elliot elsa emilia emily
emma
emmanuel eric erica erik erin ernest esther ethan eva evan evelyn fabian farah fatima felix fernando
finn fiona florence frances francesca francis frank fred frederick gabriel gabriela gary gavin gemma
george gerald gina giovanni gloria grace graham greg gregory greta guido gustav hannah hans harold
harriet harry hassan heather hector heidi helen helena henrik henry hilda hugh hugo ian ibrahim ida
igor ines ingrid irene iris isaac isabel isabella isla ivan jack jackie jacob jake james jamie jan
jana jane janet jasmine jason javier jean jeff jeffrey jenna jennifer jenny jeremy jerome jerry
jesse jessica jill jim jimmy joan joanna joe joel johan johanna john johnny jolene jon jonas
jonathan jorge jose josef joseph josh joshua joy joyce juan judith judy julia julian julie juliet
julius justin kai karen karl karla kate katherine kathleen katie keith kelly ken kenneth kenji kevin
kim klaus kristen kurt kyle lara lars laura lauren laurence lea leah lee lena leo leon leonard leila
leslie lewis liam lily linda lisa liz lois lola lorenzo louis louise lucas lucia lucy luis luka luke
lydia mabel madeleine maggie malcolm manuel marc marcel marco marcus margaret maria mariam marie
marina mario marion mark marta martha martin martina mary mateo mathilda matt matteo matthew maurice
max maya megan mei melanie melissa mia michael michelle miguel mike mikhail mila miles milo
miriam mohamed mohammed moira molly monica morgan moritz muhammad nadia nancy naomi natalia natalie
nate nathan nathaniel neil nick nicholas nicola nicole nigel nikolai nina noah noor nora norman
oleg olga oliver olivia omar oscar otto owen pablo pamela pat patricia patrick paul paula pedro
penelope pete peter petra phil philip phoebe pierre priya rachel rafael rahul raj ralph ramon
raymond rebecca rene rhea ricardo richard rick rita rob robert roberta roberto robin roger roland
roman ron ronald rosa rosalind rose ross roy ruben ruby rudolf rupert ruth ryan sabine sally sam
samantha samuel sandra sara sarah sasha scott sean sebastian serena sergei seth shannon sharon
sheila shirley silvia simon simone sofia sonia sophia sophie stan stanley stefan stella stephanie
stephen steve steven stuart sue susan suzanne sven sylvia takashi tamara tanya tara tatiana ted
teresa terry tess theo theodore theresa thomas tim timothy tina toby todd tom tomas tommy toni tony
tracy trevor tyler ulrich ursula valentina valerie vanessa vera veronica victor victoria vincent
viola violet virginia vivian vladimir walter wanda wei wendy werner wilhelm will william winston
wolfgang xavier yan yasmin yolanda yuki yuri yusuf yvonne zach zachary zara zoe
""")
ORGANIZATION_ENDS = _set("""
university college school academy institute institution hospital clinic bank bakery company
corporation group foundation association agency ministry department council committee commission
society union club team orchestra party studios records airlines motors technologies systems labs
laboratories partners holdings press church charity fund authority police
inc incorporated corp co ltd limited llc llp plc gmbh ag sa bv
""")
ORGANIZATIONS = _lines("""
google, microsoft, amazon, apple, facebook, meta, netflix, nvidia, intel, ibm, oracle, samsung,
sony, nintendo, openai, anthropic, tesla, ford, toyota, honda, bmw, volkswagen, ferrari, boeing,
airbus, nasa, un, eu, who, nato, unicef, unesco, red cross, nike, adidas, puma, under armour,
gatorade, starbucks, mcdonald's, ikea, walmart, target, disney, warner bros, universal, bbc, cnn,
nba, nfl, fifa, uefa, manchester city, manchester united, liverpool, real madrid, juventus,
stanford, harvard, yale, mit, oxford, cambridge, weight watchers, logitech, sennheiser, shure,
door dash, doordash, uber, lyft, airbnb, spotify, paypal, stripe, salesforce, siemens, bosch,
greenpeace, amnesty international, fbi, cia, ngo
""")
LOCATION_ENDS = _set("""
street avenue road lane boulevard drive square crossing bridge park garden gardens forest wood
woods lake river creek bay beach coast island islands mountain mountains mount hill hills valley
canyon desert ocean sea falls glacier volcano peninsula city town village county state province
district quarter region airport station harbour harbor museum castle cathedral palace tower stadium
hotel restaurant cafe library parkway northwest northeast southwest southeast midwest
rockies himalayas alps andes
""")
LOCATION_STARTS = _set("mount mt lake fort port san los las rio cape downtown")
PLACES = _lines("""
africa, antarctica, asia, australia, europe, north america, south america, america, middle east,
scandinavia, afghanistan, albania, algeria, argentina, armenia, austria, azerbaijan, bangladesh,
belarus, belgium, bolivia, bosnia, brazil, bulgaria, cambodia, cameroon, canada, chile, china,
colombia, congo, costa rica, croatia, cuba, cyprus, czech republic, denmark, ecuador, egypt,
england, estonia, ethiopia, finland, france, germany, ghana, greece, guatemala, haiti, honduras,
hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy, ivory coast, jamaica, japan,
kazakhstan, kenya, korea, south korea, north korea, kuwait, laos, latvia, lebanon, libya, lithuania,
luxembourg, madagascar, malaysia, malta, mexico, moldova, monaco, mongolia, montenegro, morocco,
mozambique, myanmar, namibia, nepal, netherlands, new zealand, nicaragua, nigeria, norway, oman,
pakistan, panama, paraguay, peru, philippines, poland, portugal, qatar, romania, russia, rwanda,
saudi arabia, scotland, senegal, serbia, singapore, slovakia, slovenia, somalia, south africa,
spain, sri lanka, sudan, sweden, switzerland, syria, taiwan, tanzania, thailand, tunisia, turkey,
uganda, ukraine, united arab emirates, united kingdom, united states, uruguay, uzbekistan,
venezuela, vietnam, wales, yemen, zambia, zimbabwe, uk, us, usa, u s, uae, great britain, britain,
alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, hawaii,
idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts,
michigan, minnesota, mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey,
new mexico, new york, north carolina, north dakota, ohio, oklahoma, oregon, pennsylvania,
rhode island, south carolina, south dakota, tennessee, texas, utah, vermont, washington,
west virginia, wisconsin, wyoming, ontario, quebec, alberta, british columbia,
amsterdam, ankara, athens, atlanta, auckland, austin, baltimore, bangkok, barcelona, beijing,
belgrade, bergen, berlin, bogota, boston, bratislava, brisbane, brussels, bucharest, budapest,
buenos aires, cairo, calgary, cape town, chicago, cleveland, cologne, copenhagen, dallas, damascus,
delhi, denver, detroit, doha, dubai, dublin, edinburgh, florence, frankfurt, galway, geneva, genoa,
glasgow, gothenburg, granada, hamburg, hanoi, havana, helsinki, hong kong, honolulu, houston,
istanbul, jakarta, jerusalem, johannesburg, karachi, kiev, kyiv, kolkata, krakow, kyoto, lagos,
las vegas, leipzig, lima, lisbon, ljubljana, london, los angeles, la, lyon, madrid, manchester,
manila, marseille, melbourne, memphis, miami, milan, minneapolis, montreal, moscow, mumbai, munich,
nairobi, naples, nashville, new orleans, nyc, new york city, nice, nuuk, oakland, orlando, osaka,
oslo, ottawa, palermo, paris, philadelphia, phoenix, phuket, pittsburgh, portland, porto, prague,
reykjavik, riga, rio, rio de janeiro, rome, rotterdam, sacramento, salzburg, san diego,
san francisco, santa barbara, santa fe, sf, santiago, sao paulo,
sarajevo, seattle, seoul, seville, shanghai, shinjuku,
sofia city, stockholm, stuttgart, sydney, taipei, tallinn, tampa, tehran, tel aviv, tokyo, toronto,
toulouse, tunis, turin, valencia, vancouver, venice, vienna, vilnius, warsaw, washington dc, weimar,
wellington, yokohama, zagreb, zurich, bali, hawaii, sicily, corsica, crete, brooklyn, manhattan,
queens, mountain view, palo alto, silicon valley, hollywood, yosemite, yellowstone, banff,
times square, stamford, shibuya, mediterranean, universal studios
""")
PRODUCTS = _lines("""
python, java, javascript, typescript, rust, c++, html, css, sql, linux, windows, macos, android,
ios, iphone, ipad, macbook, kindle, alexa, playstation, ps5, xbox, switch, wii, gps, excel, word,
powerpoint, photoshop, instagram, tiktok, twitter, whatsapp, youtube, discord, slack, zoom, gmail,
wikipedia, chatgpt, siri, unity, minecraft, fortnite, valorant, overwatch, cyberpunk, tetris, catan,
chess, monopoly, frisbee, coca cola, pepsi, nutella, prius, mustang, model s, harry potter,
lord of the rings, star wars, game of thrones, star trek, docker, kubernetes, pandas, numpy,
postgresql, postgres, sqlite, redis, git, github, numba, pytorch, tensorflow, excel, vscode, lego
""")
CONCEPTS = _lines("""
lgbt, lgbtq, lgbtq+, stem, ai, ml, gdpr, covid, covid-19, pandemic, rpg, rpgs, moba, mobas, vr, ar,
diy, diys, pride, christianity, buddhism, islam, judaism, hinduism, zen, yoga, reiki, capitalism,
socialism, feminism, christmas, thanksgiving, easter, halloween, hanukkah, ramadan, diwali,
new year, new year's, new year's eve, valentine's day, pomodoro technique, eisenhower matrix,
machine learning, deep learning, remote work, artificial intelligence, climate change
""")
CONCEPT_ENDS = _set("month day week technique matrix theory method principle philosophy ism")
RELATIVES = _set("""
friend buddy pal neighbor neighbour colleague coworker co-worker boss manager mentor coach teacher
student classmate roommate partner husband wife spouse fiance fiancee boyfriend girlfriend brother
sister mother mom mum father dad son daughter uncle aunt cousin nephew niece grandmother grandma
grandfather grandpa doctor therapist nurse lawyer artist author singer writer actor actress director
professor guy man woman kid boy girl
""")


_REACH = 40
"""Characters before and after a name that are looked at."""
_CUES: tuple[tuple[str, EntityType], ...] = (
    (r"work(?:s|ed|ing)? (?:at|for)|hired by|employed by|job at|internship at", ORGANIZATION),
    (r"(?:ceo|founder|cto|head) of|applied to|interview (?:at|with)", ORGANIZATION),
    (
        r"play(?:s|ed|ing)?|watch(?:ed|es|ing)?|read(?:s|ing)?|finished|rewatch(?:ed|ing)?",
        PRODUCT,
    ),
    (r"us(?:e|es|ed|ing)|install(?:ed|ing)?|download(?:ed|ing)?|bought (?:a|an|the)", PRODUCT),
    (
        r"(?:book|movie|film|game|song|album|show|series|app|novel|track)s?(?: called| named)?",
        PRODUCT,
    ),
    (r"(?:live|lives|lived|living|born|based|arrived|stay|stayed|staying) in", LOCATION),
    (
        r"(?:move|moved|moving|travel|traveled|travelled|trip|flew|fly|flight|went|going) to",
        LOCATION,
    ),
    (
        r"visit(?:s|ed|ing)?|tour of|back from|all over|capital of|near|across|explore[ds]?",
        LOCATION,
    ),
    (r"in|around", LOCATION),
    (r"hi|hey|hello|thanks|thank you|congrats|congratulations|dear|bye|yeah|sure|wow", PERSON),
    (rf"(?:my|our|his|her|their|a) (?:\w+ )?(?:{'|'.join(sorted(RELATIVES))})", PERSON),
    (r"with|by|met|meet|told|texted|married|thank", PERSON),
)
"""What may stand before a name, and the type that it shows. Of two that fit, one is longer, and has
the type of the shorter one or comes before it."""
_BEFORE = re.compile(rf"(?<!\w)(?:{'|'.join(f'({cue})' for cue, _ in _CUES)})\W{{0,3}}\Z", re.I)
_ARTICLE = re.compile(r"\b(?:the|a|an) \Z", re.I)
_AFTER = re.compile(
    r"\W{0,2}(?:said|says|told|asked|thinks|loves|likes|hates|wants|and i\b|is my|was my|smiled|"
    r"laughed|married|called|texted|emailed|replied|invited|helped|moved|joined|works|lives|"
    r"'s (?:wife|husband|mother|mom|father|dad|brother|sister|son|daughter|birthday|wedding))",
    re.I,
)


def find_type(name: str, text: str) -> EntityType:
    """Return what a name in ``text`` names.

    Cost: 1 us if the name itself says it, else 10 us.

    >>> find_type("Bob Chen", "I met Bob Chen."), find_type("Stanford University", "")
    ('PERSON', 'ORGANIZATION')
    >>> find_type("Woodhaven", "We moved to Woodhaven."), find_type("Zorbo", "Zorbo.")
    ('LOCATION', 'OTHER')
    """
    words = fold_name(name).split()
    found = _by_words(words)
    return _by_sentence(name, text) if found is None and words else found or OTHER


def _by_words(words: list[str]) -> EntityType | None:
    """Return the type that the words of a name show by themselves."""
    if not words:
        return None
    whole = " ".join(words)
    first = words[0]
    last = words[-1]
    for known, kind in (
        (PLACES, LOCATION),
        (ORGANIZATIONS, ORGANIZATION),
        (PRODUCTS, PRODUCT),
        (CONCEPTS, CONCEPT),
    ):
        if whole in known:
            return kind
    if first in HONORIFICS and len(words) > 1:
        return PERSON
    if len(words) > 1:
        if last in ORGANIZATION_ENDS or "university of" in whole:
            return ORGANIZATION
        if last in LOCATION_ENDS or first in LOCATION_STARTS:
            return LOCATION
        if last in CONCEPT_ENDS:
            return CONCEPT
    elif last in LOCATION_ENDS:
        return LOCATION
    if first in GIVEN_NAMES and len(words) <= 4:
        return PERSON
    return None


def _by_sentence(name: str, text: str) -> EntityType:
    """Return the type that the words around a name show."""
    start = text.find(name)
    if start < 0:
        return OTHER
    end = start + len(name)
    before = text[max(0, start - _REACH) : start]
    after = text[end : end + _REACH]
    before = _ARTICLE.sub("", before)
    if before.rstrip(" ")[-1:] in "\"'\u201c\u2018*_" and before.strip():
        return PRODUCT
    cue = _BEFORE.search(before) if before else None
    if cue is not None and cue.lastindex is not None:
        return _CUES[cue.lastindex - 1][1]
    return PERSON if _AFTER.match(after) else OTHER


TypedBy: TypeAlias = Literal["rule", "auto", "spacy"]
"""Who says what a name is: "rule", "spacy", or "auto": spaCy if it is installed with a model of the
language, else the rule. A type that the caller gives holds in any case."""
FindTypes = Callable[[Sequence[str]], list[Mapping[str, EntityType]]]
"""Returns for each text the types of names, by their folded form."""

LANGUAGES = {
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "italian": "it",
    "norwegian": "nb",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
}
"""The codes with which spaCy's models begin; of another language, the multilingual "xx"."""
_CONCEPTS = frozenset({"LANGUAGE", "LAW"})
_lock = threading.Lock()


def check_typed_by(value: object) -> None:
    """Raise `InputError` unless this says who types names, and spaCy is there if it must."""
    if value not in get_args(TypedBy):
        raise InputError(
            f"entity_types must be one of {', '.join(get_args(TypedBy))}, got {value!r}"
        )
    if value == "spacy" and find_spec("spacy") is None:
        raise InputError(
            "entity_types='spacy' needs spaCy and a model of it: pip install 'recollex[spacy]', "
            "then python -m spacy download en_core_web_sm"
        )


def types_by_spacy(language: str, typed_by: TypedBy) -> FindTypes | None:
    """Return how spaCy types the names of a language's texts; None if the rule does.

    Raises `InputError` if spaCy is demanded and has no model of the language.
    """
    if typed_by == "rule" or find_spec("spacy") is None:
        return None
    model = find_model(language)
    if model is None:
        if typed_by == "spacy":
            code = LANGUAGES.get(language, "xx")
            raise InputError(
                f"spaCy has no model of {language}: python -m spacy download {code}_core_news_sm, "
                "or en_core_web_sm for English"
            )
        return None
    return lambda texts: _types(model, texts)


@cache
def find_model(language: str) -> str | None:
    """Return the name of an installed model of a language, or of all; None without one."""
    names = sorted(each.name for each in entry_points(group="spacy_models"))
    for code in (LANGUAGES.get(language), "xx"):
        for name in names:
            if code is not None and name.startswith(f"{code}_"):
                return name
    return None


@cache
def _pipeline(model: str) -> Any:
    """Return a pipeline that finds entities and nothing else; None if it does not load."""
    try:
        import spacy

        others = ["parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer"]
        return spacy.load(model, exclude=others)
    except Exception as error:
        warnings.warn(
            f"names are typed by rule: spaCy's {model} does not load: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _types(model: str, texts: Sequence[str]) -> list[Mapping[str, EntityType]]:
    with _lock:  # a pipeline is one thread's
        pipeline = _pipeline(model)
        if pipeline is None:
            return [{} for _ in texts]
        return [
            {fold_name(each.text): kind for each in text.ents if (kind := _type(each.label_))}
            for text in pipeline.pipe(texts)
        ]


def _type(label: str) -> EntityType | None:
    """Return the type of a label; None for what the rule may know better.

    >>> _type("GPE"), _type("LAW"), _type("DATE")
    ('LOCATION', 'CONCEPT', None)
    """
    if label in _CONCEPTS:
        return CONCEPT
    found = known_type(label)
    return None if found == OTHER else found


@dataclass(frozen=True, slots=True)
class Naming:
    """rule: of new agents, an `EntityRule`. typed_by: see `types_by_spacy`. Raises `InputError`."""

    rule: EntityRule = "alike"
    typed_by: TypedBy = "rule"

    def __post_init__(self) -> None:
        check_entity_rule(self.rule)
        check_typed_by(self.typed_by)
