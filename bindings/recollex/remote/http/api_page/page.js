const $ = (id) => document.getElementById(id);

/** Return a new element. Texts are inserted as texts, never as HTML. */
const made = (tag, words = "", parts = [], name = "") => {
  const element = document.createElement(tag);
  element.textContent = words;
  element.append(...parts);
  if (name) element.className = name;
  return element;
};

const rows = (document_, members, needed, inputs) =>
  made("table", "", Object.entries(members).map(([name, schema]) => {
    const found = described(document_, schema);
    const cells = [
      made("td", "", [made("code", name), made("span", needed.includes(name) ? " *" : "", [], "must")]),
      made("td", kindOf(document_, schema), [], "kind"),
      made("td", found.description ?? ""),
    ];
    if (inputs) cells.push(made("td", "", [inputs[name]]));
    return made("tr", "", cells);
  }));

const members = (document_, schema) => {
  const found = described(document_, schema);
  if (found.anyOf) return members(document_, found.anyOf[0]);
  const nested = Object.entries(found.properties ?? {}).flatMap(([name, each]) => {
    const inner = described(document_, each.type === "array" ? each.items : each);
    return inner.properties ? [made("h3", `Members of ${name}`), ...members(document_, inner)] : [];
  });
  return [rows(document_, found.properties ?? {}, found.required ?? []), ...nested];
};

const send = async (verb, path, inputs, parameters, area, said, shown) => {
  const headers = {}, asked = new URLSearchParams();
  let url = path;
  for (const { name, in: where } of parameters) {
    const value = inputs[name].value;
    if (where === "path") url = url.replace(`{${name}}`, encodeURIComponent(value));
    else if (value && where === "query") asked.set(name, value);
    else if (value) headers[name] = value;
  }
  if (String(asked)) url += `?${asked}`;
  if (area) headers["Content-Type"] = "application/json";
  if ($("token").value) headers.Authorization = `Bearer ${$("token").value}`;
  said.textContent = asCurl(verb, location.origin + url, headers, area?.value);
  try {
    const answer = await fetch(url, { method: verb, headers, body: area?.value });
    const text = await answer.text();
    const json = (answer.headers.get("content-type") ?? "").includes("json");
    shown.className = answer.ok ? "" : "wrong";
    shown.textContent = `${answer.status}\n${json ? JSON.stringify(JSON.parse(text), null, 2) : text}`;
  } catch (error) {
    shown.className = "wrong";
    shown.textContent = `No answer: ${error.message}`;
  }
};

const operation = (document_, path, verb, told) => {
  const inside = made("div", "", [], "inside");
  const head = [
    made("span", verb.toUpperCase(), [], `verb ${verb}`),
    made("span", path, [], "path"),
    made("span", told.summary, [], "says"),
  ];
  const element = made("details", "", [made("summary", "", head), inside]);
  element.id = told.operationId;
  element.dataset.words = `${verb} ${path} ${told.summary} ${told.description ?? ""}`.toLowerCase();
  element.addEventListener("toggle", () => fill(document_, path, verb, told, inside), { once: true });
  return element;
};

const fill = (document_, path, verb, told, inside) => {
  if (told.description) inside.append(made("p", told.description));
  const inputs = {}, schemas = {}, needed = [];
  for (const { name, in: where, required, schema } of told.parameters) {
    schemas[name] = schema;
    inputs[name] = made("input");
    inputs[name].setAttribute("aria-label", name);
    if (where === "path") inputs[name].value = exampleOf(document_, schema);
    if (required) needed.push(name);
  }
  if (told.parameters.length)
    inside.append(made("h3", "Parameters"), rows(document_, schemas, needed, inputs));
  let area;
  const body = told.requestBody?.content["application/json"].schema;
  if (body) {
    area = made("textarea");
    area.value = JSON.stringify(exampleOf(document_, body), null, 2);
    area.setAttribute("aria-label", "body");
    inside.append(made("h3", "Body"), area, ...members(document_, body));
  }
  const button = made("button", "Send"), said = made("pre"), shown = made("pre");
  button.type = "button";
  said.hidden = shown.hidden = true;
  button.addEventListener("click", async () => {
    said.hidden = shown.hidden = false;
    await send(verb.toUpperCase(), path, inputs, told.parameters, area, said, shown);
  });
  inside.append(made("p", "", [button]), said, shown, made("h3", "Answers"));
  const answers = Object.entries(told.responses).map(([status, each]) =>
    made("tr", "", [
      made("td", "", [made("code", status)]),
      made("td", described(document_, each).description),
    ]));
  inside.append(made("table", "", answers));
  const good = Object.values(described(document_, told.responses["200"]).content)[0].schema;
  inside.append(made("h3", "Members of the answer"), ...members(document_, good));
};

const draw = (document_) => {
  document.querySelector("h1").textContent = `${document_.info.title} ${document_.info.version}`;
  $("about").textContent = document_.info.description;
  $("access").hidden = !document_.security;
  const groups = {};
  for (const [path, verbs] of Object.entries(document_.paths))
    for (const [verb, told] of Object.entries(verbs))
      (groups[told.tags[0]] ??= []).push(operation(document_, path, verb, told));
  for (const [name, elements] of Object.entries(groups))
    $("groups").append(made("section", "", [made("h2", name), ...elements]));
  $("search").addEventListener("input", () => {
    const words = $("search").value.toLowerCase();
    for (const each of document.querySelectorAll("details")) each.hidden = !each.dataset.words.includes(words);
    for (const each of document.querySelectorAll("section"))
      each.hidden = !each.querySelector("details:not([hidden])");
  });
  const named = location.hash && $(decodeURIComponent(location.hash.slice(1)));
  if (named) named.open = true;
};

fetch("/openapi.json")
  .then((answer) => answer.json())
  .then(draw)
  .catch((error) => {
    $("failed").hidden = false;
    $("failed").textContent = `/openapi.json cannot be read: ${error.message}`;
  });
