// The HTTP API: requests with the visitor's token, which is kept for this tab alone.

import { useCallback, useEffect, useRef, useState } from "/studio/html.js";

const TOKEN = "recollex-token";

/** Take the token out of the address, where `recollex studio` puts it. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.replace(/^#\/?/, ""));
  if (!given.has("token")) return;
  sessionStorage.setItem(TOKEN, given.get("token"));
  const agent = given.get("agent");
  const view = given.get("view") ?? "memories";
  history.replaceState(null, "", agent ? `#/${encodeURIComponent(agent)}/${view}` : "#/");
}

export const setToken = (token) => sessionStorage.setItem(TOKEN, token);

export class Refusal extends Error {
  constructor(status, title, detail) {
    super(detail);
    this.status = status;
    this.title = title;
  }
}

const kept = (values) => Object.entries(values ?? {})
  .filter(([, value]) => value !== null && value !== undefined && value !== "");

/** Return the JSON of an answer. path: below /api. Raises Refusal. */
export async function read(path, { query, body, signal } = {}) {
  const headers = {}, token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const asked = new URLSearchParams(kept(query)).toString();
  let answer, told;
  try {
    answer = await fetch(`/api${path}${asked ? `?${asked}` : ""}`, {
      method: body ? "POST" : "GET", headers, signal,
      body: body && JSON.stringify(Object.fromEntries(kept(body))),
    });
    told = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "NoAnswer", "The server does not answer. Is it still running?");
  }
  if (!answer.ok) throw new Refusal(answer.status, told.title, told.detail);
  return told;
}

export const ofAgent = (agent, rest) => `/agents/${encodeURIComponent(agent)}${rest}`;
export const ofMemory = (agent, id, rest = "") =>
  ofAgent(agent, `/memories/${encodeURIComponent(id)}${rest}`);

/** Read again whenever `key` changes. Returns what was read last, meanwhile too, with its state.
 *
 * key: a text that names what is read; null reads nothing. load: returns a promise, given a signal.
 */
export function useRead(key, load) {
  const [state, setState] = useState({ data: null, error: null, loading: key !== null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) {
      setState({ data: null, error: null, loading: false });
      return undefined;
    }
    const ending = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest.current(ending.signal).then(
      (data) => ending.signal.aborted || setState({ data, error: null, loading: false }),
      (error) => error.name === "AbortError" || ending.signal.aborted ||
        setState({ data: null, error, loading: false }),
    );
    return () => ending.abort();
  }, [key, turn]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, again };
}
