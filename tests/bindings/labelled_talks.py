"""Three short talks with the entity of every name, by hand: written for the tests of resolution.

A talk: (day, speaker, text). Labels: name -> entity; "-" for a word that is no name.
"""

WORKSHOP = (
    (
        (1, "Henrietta", "Morning! I drove to San Francisco with Alice Chen for the trade fair."),
        (1, "Tobias", "Nice. Did Alice show you the Technical Workers Guild stand?"),
        (2, "Henrietta", "She did. The TWG people want us at Google Inc next month."),
        (2, "Tobias", "Google? Great, Henri. I will ask Bob for the van."),
        (3, "Henrietta", "Robert Quill, our Bob? He is in San Francsico still."),
        (4, "Tobias", "Then I call Marisol Vega. She has a van too, Henri."),
        (5, "Henrietta", "Did Vega agree? And the Wolves tickets are here."),
        (5, "Tobias", "I love the Minnesota Wolves! Tobi from the paint shop comes too, Henri."),
    ),
    {
        **dict.fromkeys(("Henrietta", "Henri"), "Henrietta"),
        **dict.fromkeys(("Alice Chen", "Alice"), "Alice Chen"),
        **dict.fromkeys(("Technical Workers Guild", "TWG"), "guild"),
        **dict.fromkeys(("Google Inc", "Google"), "Google"),
        **dict.fromkeys(("San Francisco", "San Francsico"), "San Francisco"),
        **dict.fromkeys(("Robert Quill", "Bob"), "Robert Quill"),
        **dict.fromkeys(("Marisol Vega", "Vega"), "Marisol Vega"),
        **dict.fromkeys(("Minnesota Wolves", "Wolves"), "Wolves"),
        **{"Tobias": "Tobias", "Tobi": "another Tobi"},
    },
)
FAMILY = (
    (
        (1, "Ines", "My neighbours Jana and Jane both moved to Iran and Iraq last year."),
        (2, "Paul", "Did you ask Marta? Maria lives near Lake Como now."),
        (3, "Ines", "Marta sees Dan often. Dana does not know him."),
        (4, "Paul", "Alice Cooper sang in Bergen, and Alice Chen was there."),
        (5, "Ines", "Which Alice do you like?"),
        (6, "Paul", "Both! Lake Como is far from Lake Garda, by the way."),
        (8, "Paul", "Catherine Miller and Katherine Mills came from New York City."),
        (9, "Ines", "NYC is cold now. Jo and Joanna Smith went there together."),
    ),
    {
        **{name: name for name in ("Ines", "Paul", "Jana", "Jane", "Iran", "Iraq", "Marta")},
        **{name: name for name in ("Maria", "Lake Como", "Lake Garda", "Dan", "Dana", "Bergen")},
        **{name: name for name in ("Alice Cooper", "Alice Chen", "Catherine Miller")},
        **{name: name for name in ("Katherine Mills", "Jo", "Joanna Smith")},
        "Alice": "Alice",
        **dict.fromkeys(("New York City", "NYC"), "NYC"),
    },
)
TALKS = (WORKSHOP, FAMILY)
