// What the page shows is in its address: #/AGENT/VIEW?recorded=...&world=...&memory=...

import { useEffect, useState } from "/studio/html.js";

export const VIEWS = ["memories", "recall", "compare", "graph", "log", "health"];

/** Return what an address shows. */
export function parse(hash) {
  const [path, asked = ""] = hash.replace(/^#\/?/, "").split("?");
  const [agent = "", view = ""] = path.split("/").map((word) => {
    try {
      return decodeURIComponent(word);
    } catch {
      return word;
    }
  });
  return {
    agent,
    view: VIEWS.includes(view) ? view : "memories",
    ...Object.fromEntries(new URLSearchParams(asked)),
  };
}

/** Return the address of what is shown after some changes; null takes something out. */
export function address(route, changes) {
  const { agent, view, ...rest } = { ...route, ...changes };
  if (!agent) return "#/";
  const asked = new URLSearchParams(
    Object.entries(rest).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  const query = asked.toString();
  return `#/${encodeURIComponent(agent)}/${view}${query ? `?${query}` : ""}`;
}

/** Return the route, and a function that changes it: `go(changes)`, or `go(changes, true)` to
 * replace the last entry of the browser's history. */
export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parse(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const go = (changes, replace = false) => {
    const next = address(parse(location.hash), changes);
    history[replace ? "replaceState" : "pushState"](null, "", next);
    setRoute(parse(next));
  };
  return [route, go];
}

/** What of the route every request says: the two clocks. */
export const clocksOf = (route, name = "") => ({
  as_recorded: route[`recorded${name}`] ?? null,
  as_world: route[`world${name}`] ?? null,
});
