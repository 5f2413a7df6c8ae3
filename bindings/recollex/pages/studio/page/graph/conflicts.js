"use strict";
// Which of the shown facts contradict each other, and which follow one another?
//
// Two facts of one subject and predicate with different objects contradict each other where their
// valid times overlap, unless the earlier one has no end: then the one that starts later follows it.
// A predicate that allows many values has no conflicts.

const startOf = (fact) => fact.start === null ? -Infinity : fact.start;
const endOf = (fact) => fact.end === null ? Infinity : fact.end;

function contradict(one, other) {
  if (one.same === other.same) return false;
  const [first, later] = startOf(one) <= startOf(other) ? [one, other] : [other, one];
  if (first.end === null && startOf(first) < startOf(later)) return false;
  return startOf(later) < endOf(first) && startOf(first) < endOf(later);
}

// facts: {key, about, same, start, end} in recorded order; about: subject and predicate, same: the
// object. Returns pairs of keys: conflicts, the earlier recorded one first, and follows, from a fact
// without end to each of the next that start after it.
function rivals(facts) {
  const groups = new Map(), conflicts = [], follows = [];
  for (const fact of facts) {
    if (!groups.has(fact.about)) groups.set(fact.about, []);
    groups.get(fact.about).push(fact);
  }
  for (const group of groups.values()) {
    group.forEach((one, place) => {
      for (const other of group.slice(place + 1)) {
        if (contradict(one, other)) conflicts.push([one.key, other.key]);
      }
      if (one.end !== null) return;
      const later = group.filter((other) => startOf(other) > startOf(one) && other.same !== one.same);
      const next = Math.min(...later.map(startOf));
      follows.push(...later.filter((other) => startOf(other) === next)
        .map((other) => [one.key, other.key]));
    });
  }
  return { conflicts, follows };
}
