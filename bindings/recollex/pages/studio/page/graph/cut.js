"use strict";
// The nodes and edges of the cut at a recorded time and perhaps a time of the world, by the rules of
// recollex: a version is visible from its recording until it is closed; an event needs every fact
// that it includes, an observation two that claim what they claimed when it was recorded; merged
// entities are one entity from the time of the merge. At a time of the world, a fact holds within
// its valid time, a memory from its event until the end of its validity, and an event has begun.

function versionAt(versions, moment) {
  let found = null;
  for (const version of versions) {
    if (version.from <= moment) found = version;
  }
  return found && (found.to === null || found.to > moment) ? found : null;
}

function rootsAt(merges, moment) {
  const parent = new Map();
  const top = (entity) => {
    while (parent.has(entity)) entity = parent.get(entity);
    return entity;
  };
  for (const merge of merges) {
    if (merge.from <= moment && (merge.to === null || merge.to > moment)) {
      const one = top(merge.source), other = top(merge.target);
      if (one !== other) parent.set(one, other);
    }
  }
  return top;
}

function holds(item, world) {
  return world === null || ((item.start === null || item.start <= world) &&
    (item.end === null || item.end === undefined || world < item.end));
}

function claim(version) {
  const { subject, predicate, kind, object, value, start, end } = version;
  return JSON.stringify([subject, predicate, kind, object, value, start, end]);
}

// The facts on which a version of an event rests; null if the cut hides it.
function restsOn(version, facts, nodes) {
  const seen = version.includes.filter((fact) => nodes.has("fact:" + fact));
  if (version.said.status !== "observation") {
    return seen.length === version.includes.length ? seen : null;
  }
  const proofs = seen.filter((fact) => {
    const then = facts.get(fact).versions.findLast((each) => each.from <= version.from);
    return then && claim(then) === claim(nodes.get("fact:" + fact).version);
  });
  return proofs.length > 1 ? proofs : null;
}

// world: microseconds, or null for any time.
function cutAt(drawing, moment, world) {
  const root = rootsAt(drawing.merges, moment);
  const nodes = new Map(), edges = [], named = new Map();
  const add = (kind, number, label, item, version) =>
    nodes.set(kind + ":" + number, { key: kind + ":" + number, kind, label, item, version });
  const name = (entity) => {
    named.set(root(entity), true);
    return "entity:" + root(entity);
  };
  const link = (source, relation, target, note) => edges.push({ source, relation, target, note });
  const names = new Map(drawing.entities.map((entity) => [entity.number, entity]));
  const called = (entity) => {
    const found = names.get(entity);
    const records = found.records.filter((record) => record.from <= moment);
    return records.length ? records[records.length - 1].name : found.name;
  };

  for (const memory of drawing.memories) {
    if (versionAt([memory], moment) && holds(memory, world)) {
      add("memory", memory.number, memory.text, memory, memory);
    }
  }
  const many = new Set(drawing.many_valued), compared = [];
  for (const fact of drawing.facts) {
    const version = versionAt(fact.versions, moment);
    if (!version || !holds(version, world)) continue;
    const key = "fact:" + fact.number;
    const value = version.object === null ? String(version.value) : called(root(version.object));
    const text = called(root(version.subject)) + " " + version.predicate + " " + value;
    add("fact", fact.number, text, fact, version);
    nodes.get(key).value = value;
    link(key, "subject", name(version.subject));
    if (version.object !== null) link(key, "object", name(version.object));
    for (const memory of version.cites) {
      if (nodes.has("memory:" + memory)) link(key, "evidence", "memory:" + memory);
    }
    if (many.has(version.predicate)) continue;
    compared.push({
      key, start: version.start, end: version.end,
      about: root(version.subject) + " " + version.predicate,
      same: version.object === null ? version.kind + " " + JSON.stringify(version.value)
        : "entity " + root(version.object),
    });
  }
  const { conflicts, follows } = rivals(compared);
  for (const [one, other] of conflicts) link(one, "conflicts_with", other);
  for (const [one, other] of follows) link(one, "followed_by", other);
  const facts = new Map(drawing.facts.map((fact) => [fact.number, fact])), proofs = new Map();
  for (const event of drawing.events) {
    const version = versionAt(event.versions, moment);
    const found = version && holds(version, world) ? restsOn(version, facts, nodes) : null;
    if (found) {
      add("event", event.number, version.summary, event, version);
      proofs.set(event.number, found);
    }
  }
  for (const event of drawing.events) {
    const key = "event:" + event.number, node = nodes.get(key);
    if (!node) continue;
    for (const fact of proofs.get(event.number)) link(key, "includes_fact", "fact:" + fact);
    for (const who of node.version.participants) {
      link(key, "has_participant", name(who.entity), who.role);
    }
    for (const each of event.links) {
      if (each.from > moment) continue;
      if (each.relation === "has_participant") {
        link(key, each.relation, name(each.target), each.qualifier);
      } else if (nodes.has("event:" + each.target)) {
        link(key, each.relation, "event:" + each.target, each.qualifier);
      }
    }
  }
  for (const episode of drawing.episodes) {
    const version = versionAt(episode.versions, moment);
    const events = version ? version.events.filter((event) => nodes.has("event:" + event)) : [];
    if (!events.length) continue;
    add("episode", episode.number, version.summary, episode, version);
    for (const event of events) link("episode:" + episode.number, "aggregates", "event:" + event);
  }
  for (const memory of drawing.memories) {
    if (!nodes.has("memory:" + memory.number)) continue;
    for (const entity of new Set(memory.names.map(root))) {
      link("memory:" + memory.number, "mentions", name(entity));
    }
  }
  for (const entity of drawing.entities) {
    if (entity.records.some((record) => record.from <= moment)) named.set(root(entity.number), true);
  }
  for (const entity of named.keys()) add("entity", entity, called(entity), names.get(entity), null);
  const pairs = new Set();
  const once = edges.filter((edge) => {
    const pair = edge.source + " " + edge.relation + " " + edge.target;
    return !pairs.has(pair) && pairs.add(pair);
  });
  return { nodes, edges: once };
}
