// Messages that this tab of the browser has received and not settled. They stay known when the reader looks elsewhere, and over a reload.
import { at, call, type Schemas } from "./api";
import { kept } from "./kept";
import { list, preview, textOfValue, type Message } from "./message";
import { refresh } from "./state";

export interface Held {
  token: string;
  seq: number;
  id: string;
  subject: string;
  session?: string;
  deliveries: number;
  until: string;
  text: string; // the beginning of the body
  cut: boolean;
}

export interface HeldSession {
  id: string;
  token: string;
  lockedUntil: string;
}

export interface Holding {
  messages: Held[];
  session?: HeldSession;
}

const most = 400; // characters of a body

const none: Holding = { messages: [] };

export const holdings = kept<Record<string, Holding>>(() => sessionStorage, "minibus.held", {});

const key = (namespace: string, entity: string) => JSON.stringify([namespace, entity.toLowerCase()]);

export const holding = (namespace: string, entity: string): Holding => holdings.value[key(namespace, entity)] ?? none;

function keep(namespace: string, entity: string, change: (old: Holding) => Holding): void {
  const k = key(namespace, entity), next = change(holdings.value[k] ?? none);
  const { [k]: _, ...others } = holdings.value;
  holdings.value = next.messages.length > 0 || next.session ? { ...others, [k]: next } : others;
}

type Received = Message & { lockToken?: string };

export interface Receipt {
  messages: Received[];
  session?: HeldSession;
}

function heldOf(m: Received): Held {
  const text = preview(m);
  return {
    token: m.lockToken ?? "", seq: m.sequenceNumber, id: textOfValue(m.messageId), subject: m.subject ?? "", session: m.sessionId, deliveries: m.deliveryCount ?? 0, until: m.lockedUntil ?? "",
    text: text.slice(0, most), cut: text.length > most,
  };
}

const entityAt = (namespace: string, entity: string) => at`${namespace}/entities/${entity}`;

export type Order = Schemas["Receiving"];

// receive receives, and keeps what is locked.
export async function receive(namespace: string, entity: string, order: Order, signal: AbortSignal): Promise<Receipt> {
  const got = await call<Receipt>("POST", entityAt(namespace, entity) + "/receive", { body: order, signal });
  if (order.mode !== "receiveAndDelete") {
    keep(namespace, entity, (old) => ({ messages: [...old.messages, ...got.messages.map(heldOf)], session: got.session ?? old.session }));
  }
  refresh();
  return got;
}

export interface Outcome {
  outcome: "complete" | "abandon" | "defer" | "deadLetter" | "release";
  reason?: string;
  description?: string;
}

function forget(namespace: string, entity: string, tokens: string[]): void {
  keep(namespace, entity, (old) => ({ ...old, messages: old.messages.filter((m) => !tokens.includes(m.token)) }));
}

// settle settles messages, all or none.
export async function settle(namespace: string, entity: string, tokens: string[], o: Outcome): Promise<void> {
  await call("POST", entityAt(namespace, entity) + "/settle", { body: { lockTokens: tokens, ...o } });
  forget(namespace, entity, tokens);
  refresh();
}

export async function renew(namespace: string, entity: string, tokens: string[]): Promise<void> {
  const { lockedUntil } = await call<{ lockedUntil: string[] }>("POST", entityAt(namespace, entity) + "/renew", { body: { lockTokens: tokens } });
  keep(namespace, entity, (old) => ({ ...old, messages: old.messages.map((m) => ({ ...m, until: lockedUntil[tokens.indexOf(m.token)] ?? m.until })) }));
}

const sessionAt = (namespace: string, entity: string, id: string) => at`${namespace}/entities/${entity}/sessions/${id || "$empty"}`;

export async function renewSession(namespace: string, entity: string, s: HeldSession): Promise<void> {
  const { lockedUntil } = await call<{ lockedUntil: string }>("POST", sessionAt(namespace, entity, s.id) + "/renew", { body: { token: s.token } });
  keep(namespace, entity, (old) => ({ session: { ...s, lockedUntil }, messages: old.messages.map((m) => ({ ...m, until: lockedUntil })) }));
}

// releaseSession gives a session back, with what was received from it and not settled.
export async function releaseSession(namespace: string, entity: string, s: HeldSession): Promise<void> {
  await call("POST", sessionAt(namespace, entity, s.id) + "/release", { body: { token: s.token } });
  drop(namespace, entity);
  refresh();
}

// drop forgets all that is held of an entity.
export function drop(namespace: string, entity: string): void {
  keep(namespace, entity, () => none);
}

// forgetOver forgets the messages whose time is over, and with them a session whose time is.
export function forgetOver(namespace: string, entity: string, now: number): void {
  keep(namespace, entity, (old) => ({
    messages: old.messages.filter((m) => Date.parse(m.until) > now), session: old.session && Date.parse(old.session.lockedUntil) > now ? old.session : undefined,
  }));
}

const mostPages = 20;

// check asks the server which of the messages are locked still, and forgets the others. It returns how many were lost.
export async function check(namespace: string, entity: string, signal?: AbortSignal): Promise<number> {
  const h = holding(namespace, entity);
  if (h.messages.length === 0) return 0; // nothing is asked
  const until = new Map<number, string>();
  let cursor: string | undefined, pages = 0;
  do {
    const p = await list(namespace, entity, { state: "locked", body: 0, limit: 1000, cursor: cursor ?? String(Math.min(...h.messages.map((m) => m.seq))) }, signal);
    for (const m of p.items) until.set(m.sequenceNumber, m.lockedUntil ?? "");
    cursor = p.next;
  } while (cursor && ++pages < mostPages && h.messages.some((m) => !until.has(m.seq)));
  const lost = h.messages.filter((m) => (until.has(m.seq) ? !m.session && Date.parse(until.get(m.seq)!) !== Date.parse(m.until) : !cursor)).map((m) => m.token);
  forget(namespace, entity, lost);
  return lost.length;
}
