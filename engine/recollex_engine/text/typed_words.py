"""The words by which `type_rule` knows what a name names: written for it, from general knowledge.

A list is never complete; a name that none of them has is `OTHER` unless its sentence tells more.
"""


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
