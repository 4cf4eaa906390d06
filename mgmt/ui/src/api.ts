// Requests to the control API. Everything that the explorer knows comes through here.
import type { components } from "control-api";
import { authorization, needKey } from "./auth";

export type Schemas = components["schemas"];
export type Namespace = Schemas["Namespace"];
export type Entity = Schemas["Entity"];
export type Connection = Schemas["Connection"];
export type Link = Schemas["Link"];
export type Event = Schemas["Event"];
export type Job = Schemas["Job"];
export type Session = Schemas["Session"];

// Failure is an answer that is not a success, in the words of the server, or none at all.
export class Failure extends Error {
  constructor(readonly status: number, detail: string, readonly errors: string[] = []) {
    super(detail);
  }
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

export interface Call {
  query?: Query;
  body?: unknown;
  text?: string; // a body that is JSON already, or is meant to be
  signal?: AbortSignal;
}

// at returns a path below a namespace, with every value escaped: at`${namespace}/clock`. It throws for the values . and .. since browsers take them for
// steps between folders, even when they are escaped, and would ask for something else.
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  const dots = values.find((v) => v === "." || v === "..");
  if (dots !== undefined) throw new Error(`Browsers can’t request a path with the name ${dots}. Use an SDK instead.`);
  const path = parts.map((part, i) => part + (i < values.length ? encodeURIComponent(String(values[i])) : "")).join("");
  return "namespaces/" + path;
}

function address(path: string, query: Query = {}): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    all.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = all.toString();
  return "/$minibus/v1/" + path + (text ? "?" + text : "");
}

// open sends a request and returns the answer if it is a success. Otherwise it throws a Failure that says what to do.
export async function open(method: string, path: string, call: Call = {}): Promise<Response> {
  const headers: Record<string, string> = await authorization();
  const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(address(path, call.query), {
      method, headers, body, signal: call.signal, cache: "no-store", credentials: "omit",
    });
  } catch (e) {
    if (call.signal?.aborted) throw e;
    throw new Failure(0, "Minibus doesn’t answer. Start it again: this page reconnects by itself.");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) needKey();
  const problem = (await answer.json().catch(() => ({}))) as { detail?: string; errors?: unknown[] };
  const more = (problem.errors ?? []).map((e) => (typeof e === "string" ? e : (e as { message?: string }).message ?? ""));
  throw new Failure(answer.status, [problem.detail || `The server answered ${answer.status} ${answer.statusText}.`, ...more].join("\n"), more);
}

// call sends a request and returns the document of the answer.
export async function call<T>(method: string, path: string, c: Call = {}): Promise<T> {
  const answer = await open(method, path, c);
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) => call<T>("GET", path, { query, signal });

interface Page<T> {
  items: T[];
  next?: string;
}

// all reads the pages of a list, at most so many items of it.
export async function all<T>(path: string, query: Query = {}, most = 20_000, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get(path, { limit: 1000, ...query, cursor }, signal);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor && items.length < most);
  return items;
}

export function textOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}
