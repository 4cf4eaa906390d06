// Messages that are being written in this tab of the browser: one for each entity, and one for each message that is edited. They stay until they are sent.
import type { Draft } from "./draft";
import { kept } from "./kept";

// Later is when messages become active.
export interface Later {
  how: "now" | "at" | "after";
  at: string;
  after: string;
}

export interface Writing {
  draft: Draft;
  later: Later;
  copies: string;
  rate: string;
}

type Query = Record<string, string>;

const writings = kept<Record<string, Writing>>(() => sessionStorage, "minibus.drafts", {});

const ofEntity = (namespace: string, path: string) => JSON.stringify([namespace, path.toLowerCase()]).slice(0, -1);
const key = (namespace: string, path: string, { from = "", number = "" }: Query) => `${ofEntity(namespace, path)},${JSON.stringify(from)},${JSON.stringify(number)}]`;

export const written = (namespace: string, path: string, query: Query): Writing | undefined => writings.value[key(namespace, path, query)];

// keepWriting keeps what the form has; nothing: it was sent or cleared.
export function keepWriting(namespace: string, path: string, query: Query, w?: Writing): void {
  const k = key(namespace, path, query), { [k]: old, ...others } = writings.value;
  if (w) writings.value = { ...others, [k]: w };
  else if (old) writings.value = others;
}

// unsent returns the arguments of the address of an entity's newest draft; undefined if it has none.
export function unsent(namespace: string, path: string): Query | undefined {
  const k = Object.keys(writings.value).findLast((k) => k.startsWith(ofEntity(namespace, path) + ","));
  if (k === undefined) return undefined;
  const [, , from, number] = JSON.parse(k) as string[];
  return { from: from!, number: number! };
}
