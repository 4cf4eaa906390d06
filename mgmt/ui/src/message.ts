// Messages as the control API has them.
import { all, at, call, get, type Query, type Schemas } from "./api";

export type Value = unknown; // a JSON value, or an object with one key: the name of a type of AMQP

// Message is a message that the server has shown: it has a number, and a body that is data is a text.
export type Message = Omit<Schemas["Message"], "body"> & { sequenceNumber: number; body?: string };

export type MessagePage = Omit<Schemas["MessagePage"], "items"> & { items: Message[] };

export interface Typed {
  type: string;
  text: string;
}

// typed takes a value apart into its type and its text.
export function typed(v: Value): Typed {
  if (v === null || v === undefined) return { type: "null", text: "null" };
  if (typeof v === "string") return { type: "string", text: v };
  if (typeof v === "boolean") return { type: "boolean", text: String(v) };
  if (typeof v === "number") return { type: Number.isInteger(v) ? "long" : "double", text: String(v) };
  const [type, value] = Object.entries(v as object)[0] ?? ["unknown", ""];
  return { type, text: typeof value === "string" ? value : JSON.stringify(value) };
}

// textOfValue is a value for people: bytes in hex, as the history and filters have those of an id.
export function textOfValue(v: Value): string {
  if (v === undefined) return "";
  const { type, text } = typed(v);
  return type === "binary" ? [...atob(text)].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("") : text;
}

// preview is the beginning of a body for a table.
export function preview(m: Message): string {
  if (m.body !== undefined) return m.body.replace(/\s+/g, " ");
  if (m.bodyBase64 !== undefined) return "bytes: " + hex(bytesOf(m), 24).replace(/^\S+\s+/, "").split("  ")[0];
  if (m.bodyValue !== undefined) return JSON.stringify(m.bodyValue);
  if (m.bodySequence) return JSON.stringify(m.bodySequence);
  return "";
}

// bytesOf returns the bytes of a body as far as they are known.
export function bytesOf(m: Message): Uint8Array {
  if (m.body !== undefined) return new TextEncoder().encode(m.body);
  const parts = m.bodyBase64 !== undefined ? [m.bodyBase64] : m.bodySections ?? [];
  return Uint8Array.from(parts.map((p) => atob(p)).join(""), (c) => c.charCodeAt(0));
}

// hex shows bytes with their places and letters, at most so many.
export function hex(bytes: Uint8Array, most = 16_384): string {
  const lines: string[] = [];
  for (let i = 0; i < Math.min(bytes.length, most); i += 16) {
    const row = [...bytes.subarray(i, i + 16)];
    const digits = row.map((b) => b.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    lines.push(`${i.toString(16).padStart(6, "0")}  ${digits}  ${row.map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : ".")).join("")}`);
  }
  return lines.join("\n");
}

const of = (namespace: string, entity: string) => at`${namespace}/entities/${entity}/messages`;

export const list = (namespace: string, entity: string, query: Query, signal?: AbortSignal) =>
  get<MessagePage>(of(namespace, entity), query, signal);

// read reads one message, with the first 256 KiB of its body unless another number of bytes is wanted.
export const read = (namespace: string, entity: string, sequence: string | number, signal?: AbortSignal, body?: number) =>
  get<Message>(`${of(namespace, entity)}/${sequence}`, { body }, signal);

// sendLines sends messages that are JSON already, byte for byte as they are.
export const sendLines = (namespace: string, entity: string, lines: string[], signal?: AbortSignal) =>
  call<Schemas["Sent"]>("POST", of(namespace, entity), { text: `[${lines.join(",")}]`, signal });

export const remove = (namespace: string, entity: string, sequences: number[]) =>
  call<void>("DELETE", of(namespace, entity), { query: { sequenceNumbers: sequences.map(String) } });

export const reschedule = (namespace: string, entity: string, sequence: number, to: string) =>
  call<void>("PATCH", `${of(namespace, entity)}/${sequence}`, { body: { scheduledEnqueueTime: to } });

export const bodyPath = (namespace: string, entity: string, sequence: number) => `${of(namespace, entity)}/${sequence}/body`;

// everything reads the messages of a sub-queue without bodies, at most so many.
export const everything = (namespace: string, entity: string, most: number, signal: AbortSignal) => all<Message>(of(namespace, entity), { body: 0 }, most, signal);
