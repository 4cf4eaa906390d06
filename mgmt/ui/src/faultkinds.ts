// What there is to know of each kind of fault, before one is injected.
import type { Schemas } from "./api";

export type Order = Schemas["FaultOrder"];
export type Fault = Schemas["Fault"];
export type Operation = NonNullable<Order["operations"]>[number];

export interface Kind {
  name: Order["kind"];
  what: string; // what happens to an operation, in a sentence
  usual: Operation[]; // hit unless others are named
  possible: Operation[];
  conditions?: readonly string[]; // that its error can have, the usual one first
  after?: boolean; // it can take the answer alone
  endless?: boolean; // it has no count, skip and probability
}

const requests: Operation[] = ["attachSender", "attachReceiver", "send", "receive", "settle", "renew", "manage", "authenticate"];
const onMessages: Operation[] = ["send", "receive", "settle"];

const conditions = ["argument-error", "connection-forced", "detach-forced", "entity-disabled", "internal-error", "message-lock-lost", "message-not-found", "message-size-exceeded",
  "not-allowed", "not-found", "not-implemented", "resource-limit-exceeded", "server-busy", "session-cannot-be-locked", "session-lock-lost", "timeout", "unauthorized-access"];
const first = (usual: string) => [usual, ...conditions.filter((c) => c !== usual)];

export const kinds: Kind[] = [
  { name: "throttle", what: "The operation is refused with server-busy, as Azure does when it throttles. Over HTTP the answer is 503.", usual: ["send"], possible: requests },
  { name: "refuse", what: "The operation is refused with a condition that you choose.", usual: ["attachSender", "attachReceiver"], possible: requests, conditions: first("internal-error") },
  { name: "detach", what: "The link is detached, and the client has to attach again.", usual: onMessages, possible: [...requests, "now"], conditions: first("detach-forced"), after: true },
  { name: "drop", what: "The connection drops without an error, as when the network fails.", usual: onMessages, possible: [...requests, "now"], after: true },
  { name: "close", what: "The connection is closed with a condition, as when the service restarts.", usual: onMessages, possible: [...requests, "now"], conditions: first("connection-forced"), after: true },
  { name: "loseLock", what: "The message lock expires before the operation, which fails with message-lock-lost. The message is delivered again, and its delivery count rises.", usual: ["settle", "renew"], possible: ["settle", "renew"] },
  { name: "loseSession", what: "The session lock expires before the operation, which fails with session-lock-lost. Others can accept the session.", usual: ["settle", "renew"], possible: ["settle", "renew", "manage"] },
  { name: "delay", what: "The outcome is delayed, in real time. Other links don’t wait.", usual: ["send", "settle"], possible: ["send", "settle", "renew", "manage"] },
  { name: "starve", what: "Senders get no credit and receivers no messages until the fault ends.", usual: ["send", "receive"], possible: ["send", "receive"], endless: true },
  { name: "failJournal", what: "The write fails, as on a broken or full disk. Nothing is changed.", usual: ["send", "settle"], possible: ["send", "receive", "settle", "manage"], conditions: ["internal-error", "resource-limit-exceeded"] },
  { name: "expireToken", what: "The connection’s tokens expire: its links are detached, and the client needs a new token.", usual: ["now"], possible: ["send", "receive", "settle", "manage", "now"] },
];

export const kindOf = (name: string): Kind => kinds.find((k) => k.name === name) ?? kinds[0]!;

export const operations: Record<Operation, string> = {
  attachSender: "attach a sender", attachReceiver: "attach a receiver", send: "send", receive: "receive", settle: "settle", renew: "renew a lock", manage: "other requests",
  authenticate: "authenticate", now: "what is connected now",
};

// hitsPath reports whether a fault that is active concerns an entity or one of its sub-queues.
export function hitsPath(f: Fault, path: string): boolean {
  if (f.state !== "active") return false;
  const of = f.entity?.toLowerCase(), at = path.toLowerCase();
  return !of || of === at || of.startsWith(at + "/$");
}
