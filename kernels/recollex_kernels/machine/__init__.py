"""What every kernel stands on: the decorator, prefetching, bit masks, ordering."""
