"""What the latency tables share: corpora, kept stores, races, pages and plots."""
