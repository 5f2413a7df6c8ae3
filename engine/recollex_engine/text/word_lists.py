"""The English word lists that several modules share.

Each list is a frozen set of folded words (lower case, straight apostrophes). A change of
`STOP_WORDS` changes stored postings and needs a new `ANALYZER_VERSION` in `analyzer`.
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
"""Words that become no term. `will`, `may`, `can`, `no`, `not` and `us` are not in the list: each
is also a name or negates a statement, and BM25 gives a common word a low weight by itself."""

_NOT_NAMES = """
ha hehe heh
a about absolutely after again agree agreed ah aha ahh ain aka all also although always am amazing
amen an and another any anybody anyhow anyone anything anytime anyway anyways appreciate are aren as
asap at atm aw awesome aww awww back be because been before being believe besides best bet between
both bravo brilliant bro brother btw but by bye came can cause cheers come congrats congratulations
cool correct could couldn cute dad daddy damn dang dear definitely did didn diy do does doesn doing
don done dude dunno during each either else enjoy eta etc even ever every everybody everyone
everything everywhere exactly excellent except fab fantastic faq feel feeling feels felt few finally
first for from fyi gee get gets give given glad go god goes going gonna good goodbye goodness gosh
got gotcha gotta gotten grandma grandpa great guess guys had hadn hah haha hahaha happy has hasn
have haven having he heck hello her here hers hey hi him his hiya hmm hmmm home hooray hope
hopefully how however huh hurrah i id idk if im imagine imho imo in incredible indeed instead into
is isn it its just keep kinda kudos last lately later least lemme less let lets like likewise lmao
lol look lookie looks looky lot lots love loved lovely ma ma'am maam made make makes mama man many
maybe me might mine mm mmm mom mommy more most mr mrs ms much mum mummy must my nah nay neither
never nevertheless new news next nice no nobody none nope nor not noted nothing now np obviously of
off oh ok okay old omg on once one ones only oof oops or other others ouch our ours out over own
papa perfect perhaps phew please plenty plus pm pretty proud ps re really recently remember right
rsvp say see seems several shall she should shouldn since sir sis so some somebody someone something
sometimes somewhat soon sorry sorta sound sounds speaking still such super sure take takes talk tbh
tell than thank thanks that the their theirs them then there therefore these they things think this
those though through thru thus thx till to together too totally true try tv two ty ugh uh um under
understand unless until up upon us using ve very via wait wanna want was wasn way we well went were
weren what whatever when whenever where wherever whether whew which whichever while whilst who whoa
whoever whole whom whose why will wish with within without woah wonderful woo woohoo would wouldn
wow wrong xoxo y'all yay ye yea yeah yep yes yessir yet yikes yo you your yours yum yup
"""
NOT_NAMES = frozenset(_NOT_NAMES.split())
"""Words that are no name when they stand alone, even if capitalised: function words, interjections,
greetings, roles."""

_CALENDAR = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
today tomorrow yesterday tonight
"""
CALENDAR = frozenset(_CALENDAR.split())

_COMMON_WORDS = """
cherish chat speak speaks cherished embrace dare aim bless beware
able above accept account achieve across act action active activity actor actually add address
adorable adult adventure advice afraid afternoon age ago ahead air allergies allow almost alone
along already alright american amount angry animal animals answer apart apparently appear apple
apply appreciated area argue arm around arrive art article artist ask assignments assume attack
attend attention away awful baby bad bag balance ball band bank base based basically basket
basketball beach bear beat beautiful beauty become bed beer begin behavior behind below beneath
better beyond big bird birds birth birthday bit black blame blessed blood blow blue board boat body
book books born boss bottle box boy boys brave bread break breakfast breath bring brings broken
brown budget bug build building bummer burn bus business busy buy cake call calm camera camp
campaign cancer candidate capital capture car card cards care career carry case cat catch cats
center central century certain certainly chair challenge challenges chance change changes character
charge charity cheap check checked cheese chess chicken child childhood children chill china
chocolate choice choose church circle citizen city class clay clean clear clearly client climb close
clothes cloud club clue coach coconut code coffee cold collect college color colors colour combine
comedy comfort common communication communities community company compare competition competitive
complete computer concert confidence confident connect consider contemporary content continue
control conversations cook cookies cost count country couple courage course court cover cozy crazy
cream create creative creativity crowd cruel cry culture cup curious currently customers cut daily
dairy dance dancers dancing dark data date daughter day days dead deal death decide decision
dedication deep degree deliver depend describe design desire despite detail details develop dice die
diet difference different difficult dig dinner direction dirty discipline discuss dish doctor dog
dogs domestic door double doubt down dozen drag drama draw drawing dream dreams dress drink drive
drop dry due dyed eager early earn earth easily east easy eat economy edge education effort eight
eleven email emotions employees empty encourage end energy engineer enough enter entire epic error
especially essentially evening event events eventually everyday evidence evil example exams exercise
expect expensive experience experiment expert explain explore expression extra extremely eye eyes
face fact facts fail failure fair faith fall fame families family famous fan fans fantasy far farm
fashion fast father fault favorite fear features feed feedback feet fellow female field fight figure
file fill film final find fine finger fingers finish fire fish fit fitness five fix flower flowers
fly focus folks follow food foot football force foreign forest forever forget forgive form former
fortunately forward four free freedom fresh friend friends friendship front fruit full fun funny
furthermore future gain game games gaming garden gather gave general generally gift gifts girl girls
gives glass global goal goals gold gone government grab grade grass grateful gray green ground group
groups grow growth guest guidance guide guitar gun guy hair half hand handle hands hang happen
happened happiness hard harder hardly hat hate head healing health hear heard heart heavy height
held help helps hence hidden hide high higher highly hike hiking hill history hit hobbies hobby hold
holiday holidays holy honest honestly honey honor hopes horror horse horses hospital hot hotel hour
hours house huge human humans hundred hungry hunt hurry hurt husband ice idea ideas identity ignore
ill illness image impact important impossible impress impressed impressive improve inch include
income increase incredibly independent injury inner inside inspired interest interested internet
interview introduce invest invite involve iron island issue item jealous job jobs join joined
journal journey joy judge juggle jump junior justice keen kept key kick kid kids kill kind kindness
king kiss kitchen knew knock know knowledge known knows lack lady lake land language large late
laugh laughter law lay lead leader leadership learn leave led left leg legal lesson lessons letter
letters level library lie life lift light likely limit line list listen literally literature little
live lives local lone lonely long longer loose lord lose loss lost lovers low loyal luck luckily
lucky lunch machine magic mail main mainly major male manager march market marketing marriage
married mass master match matter meal meals mean means meanwhile measure meat media medical
meditation meet member members memories memory men mental mention mentors message met middle mile
million mind minds minor minute miss missed mistake mistakes mix mixed model modern moment moments
money month months mood moreover morning mostly mother motivation mountain mountains mouth move
moved movie movies multiple murder museum music nail name names natural naturally nature near nearly
neat necessary neck need needed needs neighbor nerve network networking nicely night nine noise
nonetheless normal normally north nose note notes notice novel number numerous nurse nutrition
object obstacles occasionally ocean odd offer office officer often oil older online open operation
opinion opportunity option options orange order ordinary organization original otherwise outdoor
outside overall pace pack page pain paint painting pair paper parent parents park part particularly
partly partner party pass passion past path patience patient pay peace pen people per perform
performance perfume period person personal personally pet pets phone photo photography photos pic
pick picking pics picture pictures piece pink pizza place plan plans plant plants play player
players playing point poor popular positive possible possibly post pot potato pottery power powerful
practice pray prefer prepare present presumably previously price pride print prior private probably
problem problems process produce product professional program progress project projects promise
prompt protect prove provide public pull purple purpose push put quality question questions quick
quickly quiet quit quite race rain raise random range rare rarely rather reach react read reader
readers reading ready real realistic reality reason reasons receive recipe recipes record red reduce
reflect regarding regardless regular reject rejection rejections relationship relationships relax
religion remain remains reminds rent repeat reply report request research respect responsibility
rest restaurant result results return reward rich ride rise risk river road rock role roll room
rough round routine rule rules run running rush sad safe safety said sales salt same sand saw says
scared scene school science score sea search season seat second seconds secret section seeds seek
seem seen self self-care selfcare sell send senior sense sent separate serious seriously serve
service set setback setbacks seven sex shadow shame shape share sharp shop shopping short shot shout
show showed shows sick side sight sign silence silly similar similarly simple simply sing single
sister sit situation six size skill skills skin sky sleep slow slowly small smart smell smile smiles
snow social society soft software solid son song songs sore soul sounded sour source south space
special specific speech speed spend spill spirit spiritual sport sports spot spread spring stage
stand star start started starts state stay step steps stick stone stop store stories story strange
strategy street strength stress strive strong struggle struggles student students studies study
stuff style subject success suddenly suffer sugar summer sun sunflowers sunset sunsets sunshine
support supportive surely surprise surprisingly survive swear sweet swim switch system table tackle
takes talent talks tall task taste tasty taught tea teach teacher teachers team teams teamwork
technically technology teen ten tends term terrible test text theater themes therapy thick thin
thing third thirty thought thoughts thousand three thrilled ticket tickets tight time times tiny
tips tired title toast tomatoes tons took top topic tough tour toward towards town toys track trade
tradition traffic train training travel treat tree trees tricky trip trips trouble truck truly trust
truth tune turkey turn turned turns turtles twelve twenty twice type typical ultimately unbelievable
uncle unconditional understood unforgettable unfortunately uniform unique unity universe unlike
unlikely update uplifting upset use used useful useless usual usually vacation valley value values
various vegan vegetables veggies version victory video view village violence visual vital voice
volunteer volunteers vote walk wall war warm warmth warrior wash waste watch water wave weak wealth
wear weather website wedding weddings week weekend weeks weight weird welcome west wet whats wheel
white wide wife wild win wind window wine winner winter wise woman women won wonder wood woods word
words work worked workout workouts works world worries worry worse worst worth write writer writers
written yard year years yoga young younger youth zero
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
"""Words that may begin a sentence without being a name. Words that are first names are left out."""
