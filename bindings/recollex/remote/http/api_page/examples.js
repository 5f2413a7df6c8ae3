"use strict";

/* What a schema says in words, and an example of a value that it takes. */

const described = (document_, schema) => {
  const name = schema.$ref;
  return name ? name.slice(2).split("/").reduce((at, word) => at[word], document_) : schema;
};

const kindOf = (document_, schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((each) => kindOf(document_, each)).join(" or ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(", ");
  if (schema.type === "array") return "list of " + kindOf(document_, schema.items);
  const kind = [].concat(schema.type ?? "any").join(" or ");
  const from = schema.minimum, to = schema.maximum;
  if (from !== undefined && to !== undefined) return `${kind} in [${from}, ${to}]`;
  return schema.format ?? (schema.maxLength ? `${kind}, up to ${schema.maxLength} characters` : kind);
};

const exampleOf = (document_, schema) => {
  const found = described(document_, schema);
  if (found.example !== undefined) return found.example;
  if (found.anyOf) return exampleOf(document_, found.anyOf[0]);
  if (found.enum) return found.enum[0];
  if (found.default !== undefined) return found.default;
  if (found.type === "array") return found.minItems ? [exampleOf(document_, found.items)] : [];
  if (found.type === "object") {
    const needed = found.required ?? [];
    return Object.fromEntries(needed.map((name) => [name, exampleOf(document_, found.properties[name])]));
  }
  if (found.type === "boolean") return false;
  if (found.type === "integer" || found.type === "number") return found.minimum ?? 0;
  return found.format === "date-time" ? "2024-05-01T09:30:00Z" : "text";
};

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const asCurl = (verb, url, headers, body) => {
  const words = ["curl", "-X", verb, quoted(url)];
  for (const [name, value] of Object.entries(headers))
    words.push("-H", name === "Authorization" ? '"Authorization: Bearer $TOKEN"' : quoted(`${name}: ${value}`));
  if (body !== undefined) words.push("-d", quoted(body));
  return words.join(" ");
};
