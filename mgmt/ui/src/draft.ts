// A message that is being written: the text of each field, and the message that it makes.
import { formatted, onOneLine } from "./json";
import { typed, type Message } from "./message";
import { isType, valuesOf, type Property } from "./properties";
import { clock } from "./state";

export const fields = [
  ["messageId", "Message id"], ["subject", "Subject"], ["contentType", "Content type"], ["sessionId", "Session id"], ["correlationId", "Correlation id"],
  ["partitionKey", "Partition key"], ["to", "To"], ["replyTo", "Reply to"], ["replyToSessionId", "Reply to session"], ["timeToLive", "Time to live"],
] as const;

// common are the fields that are always in sight.
export const common: readonly string[] = ["messageId", "subject", "contentType", "sessionId"];

export interface Draft {
  body: string;
  bytes?: string; // base64, of a file or a body that is no text
  other?: Record<string, unknown>; // a body of another kind, sent as it is
  fields: Record<string, string>;
  kept: Record<string, unknown>; // typed ids and further sections of a message that was read
  properties: Property[];
  fill: boolean; // whether placeholders are replaced
  line?: { shown: string; sent: string }; // JSON that came on one line: how it is shown, and how it was
}

export const fresh: Draft = { body: "", fields: {}, kept: {}, properties: [], fill: true };

// keptNames are the members of a message that a draft keeps as they are; bodyNames those of bodies that are neither text nor bytes.
const keptNames = ["contentEncoding", "priority", "annotations", "userId", "footer"] as const, bodyNames = ["bodyValue", "bodySequence", "bodySections"] as const;

// draftOf makes a draft of a message that there is. Its texts are sent as they are.
export function draftOf(m: Message): Draft {
  const d: Draft = { body: m.body ?? "", bytes: m.bodyBase64, fields: {}, kept: {}, properties: [], fill: false };
  for (const [name] of fields) {
    const v = m[name];
    if (typeof v === "string") d.fields[name] = v;
    else if (v !== undefined) d.kept[name] = v;
  }
  const pretty = m.body?.includes("\n") ? undefined : formatted(m.body ?? "");
  if (pretty?.includes("\n")) {
    d.line = { shown: pretty, sent: m.body! };
    d.body = pretty;
  }
  for (const name of keptNames) if (m[name] !== undefined) d.kept[name] = m[name];
  for (const name of bodyNames) if (m[name] !== undefined) d.other = { [name]: m[name] };
  for (const [name, value] of Object.entries(m.applicationProperties ?? {})) {
    if (!["DeadLetterReason", "DeadLetterErrorDescription"].includes(name)) d.properties.push({ name, ...typed(value) });
  }
  return d;
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === "object" && x !== null && !Array.isArray(x);
const isField = (name: string): boolean => fields.some(([f]) => f === name);
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function* mistakesOfProperty(p: unknown, i: number): Generator<string> {
  const place = `properties[${i}]`;
  if (!isObject(p)) return yield `${place} is not an object with name, type and text`;
  for (const name of ["name", "type", "text"]) if (typeof p[name] !== "string") yield `${place}.${name} is not a string`;
  if (typeof p.type === "string" && !isType(p.type)) yield `${place}.type is ${p.type}, which is not a property type`;
}

// mistakes says what is wrong with what should be a draft.
function* mistakes(d: Record<string, unknown>): Generator<string> {
  if (typeof d.body !== "string") yield "body is not a string";
  if (d.bytes !== undefined && !(typeof d.bytes === "string" && base64.test(d.bytes))) yield "bytes is not a Base64 string";
  if (d.other !== undefined) {
    const names = isObject(d.other) ? Object.keys(d.other) : [];
    if (names.length !== 1 || !bodyNames.some((n) => n === names[0])) yield `other is not an object with one of ${bodyNames.join(", ")}`;
  }
  if (!isObject(d.fields)) yield "fields is not an object";
  else for (const [name, v] of Object.entries(d.fields)) if (!isField(name) || typeof v !== "string") yield `fields.${name} is ${isField(name) ? "not a string" : "not a field of a message"}`;
  if (d.kept !== undefined && !isObject(d.kept)) yield "kept is not an object";
  else for (const name of Object.keys(d.kept ?? {})) if (!isField(name) && !keptNames.some((n) => n === name)) yield `kept.${name} is not part of a template`;
  if (d.fill !== undefined && typeof d.fill !== "boolean") yield "fill is not true or false";
  if (!Array.isArray(d.properties)) yield "properties is not a list";
  else for (const [i, p] of d.properties.entries()) yield* mistakesOfProperty(p, i);
}

// checkedDraft returns what a file or the browser's storage has, as a draft. It throws if it is none.
export function checkedDraft(x: unknown): Draft {
  const wrong = isObject(x) ? mistakes(x).next().value : "it is not an object";
  if (wrong) throw new Error(`This is not a template: ${wrong}. A template has body, fields and properties, as an export has them.`);
  const d = x as Draft;
  return { body: d.body, bytes: d.bytes, other: d.other, fields: d.fields, kept: d.kept ?? {}, properties: d.properties.map(({ name, type, text }) => ({ name, type, text })), fill: d.fill !== false };
}

// instant returns the time of the namespace, in ms.
export const instant = (): number => clock.value?.frozen ?? Date.now() + (clock.value?.offset ?? 0);

const placeholder = /\{\{(n|uuid|now)\}\}/g;

// uuid makes a random one. Browsers have crypto.randomUUID for pages of this machine or over TLS only.
function uuid(): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  return [...b].map((x) => x.toString(16).padStart(2, "0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// filled returns the draft of the nth message: with its placeholders replaced, and a message id of its own if many are sent.
export function filled(d: Draft, n: number, many: boolean): Draft {
  const id = d.fields.messageId;
  const numbered = many && id && !(d.fill && id.search(placeholder) >= 0) ? { ...d, fields: { ...d.fields, messageId: `${id}-${n}` } } : d;
  if (!d.fill) return numbered;
  const fill = (s: string) => s.replace(placeholder, (_, name: string) => (name === "n" ? String(n) : name === "uuid" ? uuid() : new Date(instant()).toISOString()));
  return {
    ...numbered, body: fill(d.body), properties: d.properties.map((p) => ({ ...p, name: fill(p.name), text: fill(p.text) })),
    fields: Object.fromEntries(Object.entries(numbered.fields).map(([k, v]) => [k, fill(v)])),
  };
}

// messageOf makes the message. It throws if a value is not of its type.
export function messageOf(d: Draft, at?: string): Record<string, unknown> {
  const m: Record<string, unknown> = { ...d.kept };
  for (const [name, value] of Object.entries(d.fields)) if (value !== "") m[name] = value;
  if (d.other) Object.assign(m, d.other);
  else if (d.bytes !== undefined) m.bodyBase64 = d.bytes;
  else if (d.line) m.body = d.body === d.line.shown ? d.line.sent : onOneLine(d.body) ?? d.body;
  else m.body = d.body;
  if (at) m.scheduledEnqueueTime = at;
  const properties = valuesOf(d.properties);
  if (properties) m.applicationProperties = properties;
  return m;
}
