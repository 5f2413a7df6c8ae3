"""From a question to a ranked list: arms, fusion, confidence, reranking, diversity, presets."""
