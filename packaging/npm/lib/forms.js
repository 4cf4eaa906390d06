"use strict";

// The forms of the control API, and what programs write in their place.

// Whole numbers beyond 2^53, such as the sequence numbers of partitioned entities, are bigints.
const wholeNumber = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const mark = "\u0001whole:";

function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(wholeNumber, (found) =>
    found[0] === '"' || Number.isSafeInteger(Number(found)) ? found : `"\\u0001whole:${found}"`,
  );
  return JSON.parse(marked, (name, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

function stringify(value) {
  const text = JSON.stringify(value, (name, part) => (typeof part === "bigint" ? mark + part : part));
  return text.replace(/"\\u0001whole:(-?\d+)"/g, "$1");
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Returns a value as an error shows it. */
function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  return require("node:util").inspect(value, { depth: 0, breakLength: Infinity });
}

/** Refuses options that a method does not have. */
function checkOptions(method, options, known) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${method}() takes an object of options, not ${shown(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const [nearest] = known.toSorted((a, b) => distance(a, name) - distance(b, name));
    const hint = distance(nearest, name) > 3 ? `it has ${known.join(", ")}` : `did you mean ${nearest}?`;
    throw new TypeError(`${method}() has no option ${JSON.stringify(name)}: ${hint}`);
  }
}

// distance is how many letters are to be added, removed or replaced between two words.
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at++) {
      next.push(Math.min(row[at] + (letter === to[at] ? 0 : 1), row[at + 1] + 1, next[at] + 1));
    }
    row = next;
  }
  return row[to.length];
}

/** Returns the milliseconds of a duration: a number of them, 1h30m, 90s, 500ms, 7d, or ISO 8601 such as PT1H. */
function milliseconds(duration) {
  if (typeof duration === "number" && Number.isFinite(duration)) return duration;
  const text = String(duration);
  const iso = /^(-?)P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text);
  if (iso) {
    const [, sign, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = iso;
    const whole = (weeks * 7 + Number(days)) * units.d + hours * units.h + minutes * units.m + seconds * units.s;
    return sign ? -whole : whole;
  }
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) {
    throw new TypeError(
      `${shown(duration)} is no duration: write "1h", "90s", "500ms", "7d", "PT1H", or milliseconds`,
    );
  }
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + count * units[unit],
    0,
  );
}

/** Returns a duration in ISO 8601, as the API takes it. What is ISO 8601 already stays as it is. */
function isoDuration(duration) {
  if (duration === undefined || duration === null || /^-?P/i.test(String(duration)))
    return duration && String(duration);
  return `PT${(milliseconds(duration) / 1000).toFixed(3).replace(/\.?0+$/, "")}S`;
}

const durationSettings = new Set([
  "LockDuration",
  "DefaultMessageTimeToLive",
  "DuplicateDetectionHistoryTimeWindow",
  "AutoDeleteOnIdle",
]);

const capital = (name) => name[0].toUpperCase() + name.slice(1);

const capitals = (object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [capital(name), value]));

/** Returns a list of names and objects, and refuses all else. */
function list(name, values) {
  if (!Array.isArray(values)) {
    const example = typeof values === "string" ? `["${values}"]` : `["orders"]`;
    throw new TypeError(`${name} is a list, such as ${name}: ${example}`);
  }
  values.forEach((value, index) => {
    if ((typeof value === "object" && value !== null) || typeof value === "string") return;
    throw new TypeError(`${name}[${index}] is ${shown(value)}: write a name, or an object with a name`);
  });
  return values;
}

/** Returns queues and topics in the form of Config.json. Those that have that form already stay as they are. */
function entities({ queues = [], topics = [] }) {
  return { Queues: list("queues", queues).map(entity), Topics: list("topics", topics).map(topic) };
}

function topic(declared) {
  const { subscriptions = [], ...rest } = declared;
  return typeof declared === "string" || declared.Name !== undefined
    ? entity(declared)
    : { ...entity(rest), Subscriptions: list("subscriptions", subscriptions).map(subscription) };
}

function subscription(declared) {
  const { filter, action, rules, ...rest } = declared;
  if (typeof declared === "string" || declared.Name !== undefined) return entity(declared);
  const named = rules ?? (filter === undefined ? undefined : [{ name: "filter", filter, action }]);
  return { ...entity(rest), ...(named && { Rules: list("rules", named).map(rule) }) };
}

function entity(declared) {
  if (typeof declared === "string") return { Name: declared };
  if (declared.Name !== undefined) return declared;
  const { name, ...settings } = declared;
  const properties = {};
  for (const [key, value] of Object.entries(settings)) {
    const setting = capital(key);
    if (setting === "AuthorizationRules") properties[setting] = value.map(capitals);
    else properties[setting] = durationSettings.has(setting) ? isoDuration(value) : value;
  }
  return { Name: name, Properties: properties };
}

function rule(declared) {
  if (declared.Name !== undefined) return declared;
  const { name, filter = true, action } = declared;
  const properties = action === undefined ? {} : { Action: { SqlExpression: action } };
  if (typeof filter === "boolean") properties.FilterType = filter ? "True" : "False";
  else if (typeof filter === "string")
    Object.assign(properties, { FilterType: "Sql", SqlFilter: { SqlExpression: filter } });
  else {
    const { subject, ...rest } = filter; // which Config.json calls Label
    Object.assign(properties, {
      FilterType: "Correlation",
      CorrelationFilter: capitals(subject === undefined ? rest : { label: subject, ...rest }),
    });
  }
  return { Name: name, Properties: properties };
}

/** Returns a message in the form of the API: with a typed value for what JSON has no type for. */
function messageOf(message) {
  if (typeof message !== "object" || message === null) {
    throw new TypeError(`A message is an object, such as { body: "two coffees" }, and not ${shown(message)}`);
  }
  const { body, timeToLive, applicationProperties, ...rest } = message;
  const sent = { ...rest };
  if (body instanceof Uint8Array) sent.bodyBase64 = base64(body);
  else if (body !== undefined) sent.body = body;
  if (timeToLive !== undefined) sent.timeToLive = isoDuration(timeToLive);
  if (applicationProperties) {
    sent.applicationProperties = Object.fromEntries(
      Object.entries(applicationProperties).map(([name, value]) => [name, typed(value)]),
    );
  }
  return sent;
}

function typed(value) {
  if (value instanceof Date) return { timestamp: value.toISOString() };
  if (value instanceof Uint8Array) return { binary: base64(value) };
  if (typeof value === "bigint") return { long: String(value) };
  return value;
}

const base64 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Makes Dates of the times in an object, by the names that have them. */
function dated(object, ...names) {
  for (const name of names) {
    if (typeof object[name] === "string") object[name] = new Date(object[name]);
  }
  return object;
}

/** Returns a query, with a comma between the values of a list. */
function query(values) {
  const parts = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const list = Array.isArray(value) ? value : [value];
      const texts = list.map((one) => (one instanceof Date ? one.toISOString() : one));
      return `${name}=${encodeURIComponent(texts.join(","))}`;
    });
  return parts.length > 0 ? `?${parts.join("&")}` : "";
}

module.exports = { checkOptions, dated, entities, isoDuration, messageOf, milliseconds, parse, query, shown, stringify };
