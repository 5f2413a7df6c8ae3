"""What the papers call the methods of an agent: aliases for those who come from there."""

from recollex.api.agent_profile import AgentProfile
from recollex_mind.profile import Profile


class PaperNames:
    """The methods of `Agent` under their names in Memora."""

    profile: AgentProfile

    def get_agent_profile(self) -> Profile:
        """Return `Agent.profile.get` (Memora 4.2)."""
        return self.profile.get()

    def merge_agent_background(self, new_info: str) -> Profile:
        """Return `Agent.profile.merge_background` (Memora 4.4)."""
        return self.profile.merge_background(new_info)
