"""Every field of a ranking's configuration is checked when it is made: the bound and the value."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import recollex
from recollex import presets
from recollex_engine.errors import InputError

Made = Callable[..., Any]


def preset(**fields: Any) -> Any:
    return presets.Preset(**({"name": "mine"} | fields))


def function_reranker(**fields: Any) -> Any:
    return presets.FunctionReranker(**({"function": lambda query, texts: [], **fields}))


def http_reranker(**fields: Any) -> Any:
    return presets.HttpReranker(**({"url": "http://localhost:1/", "model": "m"} | fields))


def given_vectors(**fields: Any) -> Any:
    return recollex.GivenVectors(8, **fields)


WRONG: list[tuple[Made, dict[str, Any], str]] = [
    (
        presets.LateInteraction,
        {"combination": "add"},
        r"must be a Combination, such as Combination\(.add",
    ),
    (presets.LateInteraction, {"model": 3}, "model must be the name or the folder of a model"),
    (presets.LateInteraction, {"threads": 0}, r"threads must lie in \[1, 1024\], got 0"),
    (presets.CrossEncoderReranker, {"combination": 2}, "combination must be a Combination"),
    (presets.CrossEncoderReranker, {"precision": "int4"}, "precision must be one of int8, fp32"),
    (presets.CrossEncoderReranker, {"dated": "yes"}, "dated must be True or False, got 'yes'"),
    (presets.CrossEncoderReranker, {"model": ""}, "model must be the name or the folder"),
    (function_reranker, {"function": "length"}, "function must be callable"),
    (function_reranker, {"name": ""}, "name is empty"),
    (function_reranker, {"dated": 1}, "dated must be True or False, got 1"),
    (function_reranker, {"combination": "replace"}, "combination must be a Combination"),
    (http_reranker, {"model": None}, "model must be a str, got NoneType"),
    (http_reranker, {"api_key": 5}, "api_key must be a str or None, got int"),
    (http_reranker, {"key_variable": ""}, "key_variable is empty"),
    (http_reranker, {"timeout": 0}, "timeout must lie in"),
    (http_reranker, {"dated": None}, "dated must be True or False"),
    (http_reranker, {"combination": "multiply"}, "combination must be a Combination"),
    (presets.Combination, {"form": "sum"}, "form must be one of replace, add, multiply"),
    (presets.Combination, {"weight": -1.0}, r"weight must lie in \[0, 1e\+06\], got -1.0"),
    (presets.Spreading, {"from_one": 1}, "from_one must be True or False, got 1"),
    (presets.Spreading, {"rare_entities": "no"}, "rare_entities must be True or False"),
    (presets.Spreading, {"decay": 2.0}, r"decay must lie in \[0, 1\], got 2.0"),
    (presets.ReciprocalRank, {"weights": 2.0}, "weights must be a Mapping, such as"),
    (presets.ReciprocalRank, {"weights": {"dense": 1.0}}, "weights names the arm 'dense'"),
    (presets.ReciprocalRank, {"k": float("nan")}, "k must lie in"),
    (presets.ScoreSum, {"weights": [1.0]}, "weights must be a Mapping"),
    (presets.Contextual, {"keyword": "5"}, "keyword must be a number, got str"),
    (presets.Heuristic, {"recency": -0.1}, r"recency must lie in \[0, 1000\], got -0.1"),
    (presets.MemoraHeuristic, {"semantic": None}, "semantic must be a number"),
    (presets.SelfAnchoring, {"gate": 2}, r"gate must lie in \[0, 1\], got 2"),
    (presets.SelfAnchoring, {"base": "rank"}, "base must be 'ranks' or 'scores'"),
    (presets.Diversity, {"threshold": -1.0}, r"threshold must lie in \[0, 1\], got -1.0"),
    (presets.Diversity, {"balance": 2}, r"balance must lie in \[0, 1\], got 2"),
    (presets.Diversity, {"collapse": 1}, "collapse must be True or False, got 1"),
    (presets.EnglishDates, {"tz": "UTC"}, "tz must be a zone, such as .* got 'UTC'"),
    (presets.EnglishDates, {"month_first": 1}, "month_first must be True, False or None, got 1"),
    (presets.ManyLanguages, {"languages": "de"}, r"languages must be a list such as \('de'"),
    (presets.ManyLanguages, {"tz": "UTC"}, "tz must be a zone"),
    (presets.LanguageModelDates, {"model": "", "api_key": "k"}, "model must be its name"),
    (presets.LanguageModelDates, {"model": "m", "timeout": "5"}, "timeout must be more than 0"),
    (presets.LanguageModelDates, {"model": "m", "tz": 1}, "tz must be a zone"),
    (presets.Thresholds, {"semantic": -1.5}, r"semantic must lie in \[-1, 1\], got -1.5"),
    (presets.Thresholds, {"link": float("nan")}, r"link must lie in \[-1, 1\], got nan"),
    (presets.Thresholds, {"foreign": -1.0}, r"foreign must lie in \[0, 1\], got -1.0"),
    (presets.Thresholds, {"entry": None}, "entry must be a number, got None"),
    (given_vectors, {"thresholds": -1.0}, r"thresholds must be a Thresholds, .* got -1.0"),
    (given_vectors, {"links": 0}, "links must be True or False, got 0"),
    (preset, {"thresholds": -1.0}, r"thresholds must be a Thresholds, .* got -1.0"),
    (preset, {"time_parser": "english"}, "time_parser must be an object with name, find"),
    (preset, {"arms": ("dense",)}, "arms must be some of"),
    (preset, {"arms": "semantic"}, "arms must be a list of str"),
    (preset, {"k1": -1}, r"k1 must lie in \[0, 100\], got -1"),
    (preset, {"b": 1.5}, r"b must lie in \[0, 1\], got 1.5"),
    (preset, {"semantic_cut": "yes"}, "semantic_cut must be True or False"),
    (preset, {"spreading": 0.5}, "spreading must be a Spreading"),
    (preset, {"temporal": "satf"}, "temporal must be 'tempr' or 'memora'"),
    (preset, {"quotas": 5}, "quotas must be a Mapping"),
    (preset, {"quotas": {"world": 0}}, r"quotas\['world'\] must lie in"),
    (preset, {"fusion": "rrf"}, "fusion must be an object with associates, fuse"),
    (preset, {"fusion": presets.ReciprocalRank}, "fusion must be an object with"),
    (preset, {"divides": 1}, "divides must be True or False, got 1"),
    (preset, {"self_anchoring": True}, "self_anchoring must be a SelfAnchoring"),
    (preset, {"reranker": "cross-encoder"}, "reranker must be an object with name, scores"),
    (preset, {"combination": "add"}, "combination must be a Combination"),
    (preset, {"depth": 0}, r"depth must lie in \[1, 100000\], got 0"),
    (preset, {"diversity": 0.5}, "diversity must be a Diversity"),
    (preset, {"overflow": "cut"}, "overflow must be 'skip' or 'stop'"),
    (preset, {"name": 3}, "name must be a str"),
]


@pytest.mark.parametrize(("make", "wrong", "said"), WRONG)
def test_a_wrong_field_names_the_bound_and_the_value(
    make: Made, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        make(**wrong)


@pytest.mark.parametrize("name", [each for each in presets.__all__ if each[0].isupper()])
def test_no_field_of_a_configuration_takes_anything(name: str) -> None:
    made = getattr(presets, name)
    first = {
        "Preset": {"name": "mine"},
        "FunctionReranker": {"function": len},
        "HttpReranker": {"url": "http://localhost:1/", "model": "m"},
        "LanguageModelDates": {"model": "m", "api_key": "k"},
    }.get(name, {})
    made(**first)
    for field in fields(made):
        if field.init and field.name not in ("base_url", "api_key"):  # its client checks those
            with pytest.raises(InputError, match=r".+ .+"):
                made(**first | {field.name: object()})
