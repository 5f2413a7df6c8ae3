"""LangChain: a vector store and a retriever over the memories of an agent.

Needs ``pip install 'recollex[langchain]'``; so do `recollex.frameworks.langchain_stores`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from recollex.frameworks.adapter_calls import EACH, awaited, nearest, padded, recalled
from recollex_engine.domain.checks import mended
from recollex_engine.domain.prompt_marks import defused
from recollex_engine.errors import InputError
from recollex_engine.ranking.diversity import Diversity

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
    from pydantic import Field
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.langchain needs langchain-core: pip install 'recollex[langchain]'"
    ) from error

WORDLESS = "."
"""The question that has no words, for a search by a vector alone."""


class RecollexVectorStore(VectorStore):
    """Documents, each a memory of one agent; a search is a recall, so by meaning, words and times.

    agent: of `recollex.open` or `recollex.connect`. collection: keeps the documents of several
    vector stores in one agent apart. embedding: makes the vectors; the agent's store must have been
    opened with `recollex.GivenVectors` of its dimension, or of the next multiple of 8. Without one
    the store's own model makes them.

    A search takes ``filter=``, conditions on metadata as of ``where`` of `Agent.recall`, and that
    recall's other options. It returns ``k`` documents if there are as many: there is no threshold.
    A score is a log-odds; the relevance score is its probability. An empty document is refused.
    A document that is added again under its id replaces the former, which stays in
    ``agent.history``.

    >>> import recollex, tempfile
    >>> store = RecollexVectorStore(recollex.open(tempfile.mkdtemp()).agent("docs"))
    >>> ids = store.add_texts(["Bob drinks tea.", "Ann rows."], [{"n": 1}, {"n": 2}])
    >>> store.similarity_search("Who is in a boat, rowing?", k=1)[0].page_content
    'Ann rows.'
    >>> store.similarity_search("Who rows?", filter={"n": {"lt": 2}})[0].metadata
    {'n': 1}
    """

    def __init__(
        self, agent: Any, *, collection: str = "langchain", embedding: Embeddings | None = None
    ) -> None:
        self.agent: Any = agent
        self.collection: str = collection
        self._embedding = embedding

    @property
    def embeddings(self) -> Embeddings | None:
        """What makes the vectors; None for the store's own model."""
        return self._embedding

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **options: Any,
    ) -> list[str]:
        """Add documents as one transaction, and return their ids; ``options`` as of `retain_many`.

        Raises `InputError`; then none is added.
        """
        given = list(texts)
        for name, values in (("metadatas", metadatas), ("ids", ids)):
            if values and len(values) != len(given):
                raise InputError(f"{name} must be as many as texts, {len(given)}: {len(values)}")
        if not given:
            return []
        names = [each or str(uuid4()) for each in ids or [None] * len(given)]
        if self._embedding is not None:
            options["embedding"] = padded(self._embedding.embed_documents(given))
        self.agent.retain_many(
            given,
            id=[self._inside(name) for name in names],
            metadata=[dict(each) for each in metadatas] if metadatas else None,
            tags=[self.collection],
            **options,
        )
        return names

    def delete(self, ids: Sequence[str] | None = None, **options: Any) -> bool:
        """Forget documents, or all of the collection; ids that do not exist are passed over."""
        if ids is None:
            self.agent.forget(tags=[self.collection])
        elif held := [each.id for each in self._held(ids)]:
            self.agent.forget(held)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of those ids that exist, in the order of the ids."""
        return [self._document(memory) for memory in self._held(ids)]

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the ``k`` documents that answer a query best."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **options)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """Return them with the scores of the recall; -inf for what it did not find."""
        vector = None if self._embedding is None else self._embedding.embed_query(query)
        return self._search(query, k, vector, EACH, **options)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **options: Any
    ) -> list[Document]:
        """Return the ``k`` documents that are nearest to a vector."""
        found = self._search(WORDLESS, k, embedding, EACH, **options)
        return [document for document, _ in found]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **options: Any,
    ) -> list[Document]:
        """Return ``k`` documents that answer a query and differ.

        lambda_mult: the weight of the answer against novelty. fetch_k: has no effect; all that the
        recall found is considered.
        """
        preset = replace(EACH, diversity=Diversity(balance=lambda_mult, limit=k, collapse=False))
        vector = None if self._embedding is None else self._embedding.embed_query(query)
        return [document for document, _ in self._search(query, k, vector, preset, **options)]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        agent: Any = None,
        collection: str = "langchain",
        **options: Any,
    ) -> "RecollexVectorStore":
        """Return a store of ``agent`` to which the texts were added."""
        if agent is None:
            raise InputError("from_texts needs agent=, such as recollex.open(folder).agent('docs')")
        store = cls(agent, collection=collection, embedding=embedding)
        store.add_texts(texts, metadatas, ids=ids, **options)
        return store

    def _select_relevance_score_fn(self) -> Any:
        return probability

    def _search(
        self,
        query: str,
        k: int,
        vector: Sequence[float] | None,
        preset: Any,
        *,
        filter: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> list[tuple[Document, float]]:
        wanted = {"tags": [self.collection], "where": filter, **options}
        ranked = {"preset": preset}
        if vector is not None:
            ranked["query_embedding"] = padded([vector])[0]
        found = nearest(self.agent, query, k, ranked=ranked, **wanted)
        return [
            (self._document(memory), -math.inf if score is None else score)
            for memory, score in found
        ]

    def _held(self, ids: Sequence[str]) -> list[Any]:
        found = (self.agent.get(self._inside(id), None) for id in dict.fromkeys(ids))
        return [memory for memory in found if memory is not None]

    def _inside(self, id: str) -> str:
        return f"{self.collection}:{id}"

    def _document(self, memory: Any) -> Document:
        id = memory.id.removeprefix(f"{self.collection}:")
        return Document(id=id, page_content=memory.text, metadata=dict(memory.metadata))


class RecollexRetriever(BaseRetriever):
    """What an agent recalls for a query, as documents, best first.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio` (that one for `ainvoke` alone).
    k: the most documents; also an argument of `invoke`. options: of `Agent.recall`, such as
    {"tags": ["work"], "max_tokens": 500, "min_confidence": 0.5}.

    A document's metadata are the memory's, and "recollex" with its score, time, document and
    speaker.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> id = alice.retain("Ann rows.", event_at="2024-05-01T00:00:00Z")
    >>> found = RecollexRetriever(agent=alice).invoke("Who rows?")
    >>> found[0].page_content, found[0].metadata["recollex"]["event_at"]
    ('Ann rows.', '2024-05-01T00:00:00+00:00')
    """

    agent: Any
    k: int = 10
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None
    ) -> list[Document]:
        found = self.agent.recall(mended(query), limit=self.k if k is None else k, **self.options)
        return [_recalled(memory) for memory in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None
    ) -> list[Document]:
        limit = self.k if k is None else k
        found = await awaited(self.agent.recall, mended(query), limit=limit, **self.options)
        return [_recalled(memory) for memory in found]


def probability(score: float) -> float:
    """Return the probability of log-odds.

    >>> probability(0.0), probability(-math.inf), probability(800)
    (0.5, 0.0, 1.0)
    """
    return 1 / (1 + math.exp(-score)) if score > -700 else 0.0


def _recalled(memory: Any) -> Document:
    text = defused(memory.text)  # a retriever's documents become a prompt
    return Document(id=memory.id, page_content=text, metadata=recalled(memory))
