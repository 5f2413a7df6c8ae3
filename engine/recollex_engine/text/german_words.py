"""The German word lists by which `german_names` tells nouns from names.

Each list is a frozen set of words in lower case.
"""

_FUNCTION_WORDS = """
ab aber abseits ach acht alle allein allem allen aller allerdings alles als also am an ander andere
anderem anderen anderer anderes anders anfangs angesichts anhand ansonsten anstatt auch auf aufgrund
aus ausgehend außer außerdem außerhalb bald bei beide beiden beider beides beim bereits besonders
bevor bis bisher bislang bitte bitteschön da dabei dadurch dafür dagegen daher dahin damals damit
danach daneben dank danke dankeschön dann daran darauf daraufhin daraus darin darum darunter darüber
das dass davon davor dazu dein deine deinem deinen deiner dem demnach den denen denn dennoch der
derartige deren derer derselbe derzeit des deshalb dessen desto deswegen dich die dies diese
dieselbe diesem diesen dieser dieses diesmal dir doch dort dorthin drei du durch ebenfalls ebenso
ehe eher ein eine einem einen einer einerseits eines einfach einige einigen einiger einiges einmal
eins einschließlich einst elf endlich entlang entsprechend entweder er erst erstens es etwa etwas
euch euer eure euren falls fast ferner fünf für ganz gar gegen gegenüber gelegentlich gemäß genau
genauso gerade gern gestern gewiss gibt gleich gleichzeitig guten hallo hat hatte heute hier hierbei
hierdurch hierfür hiermit hin hingegen hinsichtlich hinter hundert hätte häufig ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer ihres im immer immerhin in indem infolge infolgedessen inmitten innerhalb
ins insbesondere insgesamt inzwischen ist ja je jede jedem jeden jeder jedes jedoch jemand jene
jenem jenen jener jenes jenseits jetzt kann kein keine keinem keinen keiner keines kurz lange laut
lediglich leider letztendlich letztlich liebe lieber man manche manchem manchen mancher manches
manchmal mehr mehrere mehreren mein meine meinem meinen meiner meines meist meistens mich mir mit
mithilfe mittels mittlerweile morgen muss möglicherweise na nach nachdem nachher nahe nahezu
natürlich neben nein neulich neun nicht nichts nie niemals niemand noch normalerweise null nun nur
nämlich ob oben oberhalb obgleich obwohl oder offenbar offensichtlich oft oh ohne okay per plötzlich
pro rund schließlich schon sechs sehr sei seid sein seine seinem seinen seiner seines seit seitdem
selbst selten sich sicher sie sieben sind so sobald sodass sofern sogar solange solch solche solchem
solchen solcher somit sonst sooft soviel soweit sowie sowohl später spätestens statt stattdessen
stets stimmt tausend teilweise toll trotz trotzdem tschüss um umgekehrt umso und ungeachtet
ungefähr uns unser unsere unserem unseren unserer unter unterdessen unterhalb unzählige ursprünglich
viel viele vielem vielen vieler vielleicht vielmehr vier vom von vor vorher vorübergehend
wahrscheinlich wann war waren warum was weder wegen weil weit weiter weitere weiteren weiterhin
welch welche welchem welchen welcher welches wem wen wenig wenige weniger wenn wer werden weshalb
wessen wie wieder wiederum wieso will wir wird wirklich wo wobei wodurch wogegen woher wohin wohl
womit woran worauf worin wurde wurden während wäre würde zehn zeitweise ziemlich zu zudem zuerst
zufolge zugleich zuletzt zum zumeist zumindest zunächst zur zusammen zusammenfassend zusätzlich
zuvor zwar zwei zwischen zwölf über überall überdies übrigens
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that begin sentences: pronouns, prepositions, conjunctions, adverbs, greetings."""

_DETERMINERS = """
acht alle allem allen aller alles am ans aufs beide beiden beider beim das dasselbe dein deine
deinem deinen deiner deines dem den denselben der derselben des die dies diese dieselbe diesem
diesen dieser dieses drei durchs ein eine einem einen einer eines einige einigen einiger elf etwas
euer eure eurem euren eurer eures fünf fürs genug hundert ihr ihre ihrem ihren ihrer ihres im ins
jede jedem jeden jeder jedes jene jenem jenen jener jenes kein keine keinem keinen keiner keines
manche manchem manchen mancher manches mehr mehrere mehreren mehrerer mein meine meinem meinen
meiner meines neun sechs sein seine seinem seinen seiner seines sieben solche solchem solchen
solcher solches tausend ums unser unsere unserem unseren unserer unseres viel viele vielen vieler
vier vom welche welchem welchen welcher welches wenige wenigen weniger zehn zum zur zwei zwölf übers
"""
DETERMINERS = frozenset(_DETERMINERS.split())
"""Words after which a noun stands, and a name seldom: articles and their contractions with
prepositions, possessives, quantities."""

CALENDAR = frozenset(
    (
        *("januar", "jänner", "februar", "märz", "april", "mai", "juni", "juli", "august"),
        *("september", "oktober", "november", "dezember", "montag", "dienstag", "mittwoch"),
        *("donnerstag", "freitag", "samstag", "sonnabend", "sonntag"),
    )
)

_TITLES = """
bruder bundeskanzler bundeskanzlerin dr frau fürst general graf herr herrn kaiser kaiserin kanzler
kanzlerin könig königin minister oma onkel opa papst prinz prinzessin prof professor präsident
präsidentin sankt schwester st tante
"""
TITLES = frozenset(_TITLES.split())
"""Words before a name that are no part of it."""

_NOUNS = """
abend abgeordneter acker adel alge alkohol amt anfang angriff angst anhänger antwort anzahl apfel
arbeit arbeiter architekt armee art artikel arzt aufgabe auge ausnahme aussage auto autor baby bahn
bahnhof bahnsteig bakterie ball bank basis bauer bauleiter baum bedeutung begriff behörde beispiel
bericht besitz besuch betrag betrieb bett bevölkerung bewohner beziehung bezirk bezug bier bild
bildschirm billion bischof blatt blume blut boden bremse brief brot bruder brücke buch bus börse
bühne bürger chef christ computer cousine dach dampf datei daten dichter dienst doktor dollar dorf
druck dynastie ebene ecke ehe ehre eigentum einfluss einwohner einzelperson ende energie enkel
entscheidung epoche erbe erde erfolg essen euro experte fabrik fahrrad fahrzeug fall familie farbe
fehler feier feind fenster fernsehen fest feuer film firma fisch flasche fleisch flughafen flugzeug
fluss fläche folge form forscher forschung fortschritt frage frau freude freund frucht frühling funk
fuß fähigkeit führer fürst gang garage garten gas gebiet geburt geburtstag gebäude gedanke gefahr
gefecht gegensatz gegner geld gemeinde gemälde gemüse gen generation gericht gerät geschenk
gesellschaft gesetz gespräch gestein gesundheit gewicht gewinn glas glaube glück gott gouverneur
grad gramm großstadt grund gruppe größe hafen hand handel handy hass hauptstadt haus haut heirat
hektar herbst herrscher herz herzog hilfe hochzeit hoffnung hotel huhn hund hundert höhe idee
industrie ingenieur inhalt innenstadt instrument interesse internet jahr jahrhundert jahrzehnt jude
junge kaffee kaiser kamera kampf kapital karriere kartoffel kategorie katholik katze keller kette
kilogramm kilometer kind kirche kiste klasse kleid kleidung klima klingel kloster kohle kollege
kolonie kommando konflikt konto kontrolle konzern konzert kopf kosten kraft krankheit kredit krieg
kuchen kuh kunst könig körper küche künstler küste lagerstätte leben lehrer leistung lenker leute
licht liebe lied liga linie liter luft lösung macht mal maler mann mannschaft markt maschine maus
maß medikament medizin meer mehrheit meile meinung meister menge mensch metall meter methode milch
milliarde million minderheit minister ministerium minute mitglied mittag mitte mittel mode modell
moment momente monat motor musik muslim mutter mädchen möglichkeit nachbar nachbarin nachkomme
nachricht nacht nahrung name nation neffe netz netzwerk nichte nord norden nordosten nordwesten nähe
objekt obst oma onkel opa oper orchester ordnung organisation ort ost osten park parlament partei
partner patent patient periode person perspektive pferd pflanze pflege pfund phase pizza plan planet
platz politik preis priester privileg problem produkt professor programm projekt protest protestant
provinz prozent pumpe punkt quadratkilometer quadratmeile qualität rad radio rand rang rat raum
rechner rechnung recht regal regel regen regierung region reifen reihe reise rekord religion
restaurant ritter rivale rolle saison salat salz satellit sattel satz sauerstoff schaden
schauspieler schiff schlacht schloss schlüssel schnee schrank schraube schriftsteller schuld schule
schutz schwein schwester schüler seite sekunde sender sicherheit siedler sieg sinn sitz sitzung
sklave software sohn soldat sommer sonne sorte spiel spieler sprache staat stadt stadtteil stahl
stand steuer stickstoff stil stoff straße streik streit strom student studie stufe stuhl stunde
städte stück summe suppe system söldner süd süden südosten südwesten tabak tag tante tanz technik
tee teil telefon temperatur termin text theater thema theorie ticket tier tisch titel tochter tod
tonne tor trainer trauer treffen truppe turm typ tür unfall unternehmen unterschied urlaub ursache
vater verbindung verbündeter verein verfassung vergleich verhältnis verlust versuch vertrag
vertreter virus vogel volk vorfahre waffe wagen wahl wasser wasserstoff weg wein weise welt werk
werkstatt wert wesen west westen wetter wind winter wirkung wissenschaft woche wohnung wort wunsch
wurzel wut wähler wärme zahl zeit zeitung zelle zentrum zeug ziel zimmer zoll zucker zug
zusammenhang zustand zweck ära öl
"""
NOUNS = frozenset(_NOUNS.split())
"""Common nouns, alone or as the head of a compound: "Dorfschule" as well as "Schule"."""

_PLAIN_NOUNS = """
reich land montag insel stern mond stein wald feld burg berg mark morgen
"""
PLAIN_NOUNS = frozenset(_PLAIN_NOUNS.split())
"""Common nouns with which the names of places end, such as "Deutschland" and "Nürnberg"."""
