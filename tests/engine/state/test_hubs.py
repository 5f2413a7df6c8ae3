from recollex_engine.domain.schema import NONE
from recollex_engine.state.mentions import Hubs


def test_what_is_known_of_entities_stays_when_there_are_more():
    hubs = Hubs()
    hubs.known(3)[2] = 17
    assert hubs.known(3)[:3].tolist() == [NONE, NONE, 17]
    more = hubs.known(1000)
    assert len(more) >= 1000 and more[2] == 17 and (more[3:] == NONE).all()
    assert hubs.known(5) is more
