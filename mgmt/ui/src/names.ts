// Paths of entities, taken apart.
import type { Entity } from "./api";

const between = "/Subscriptions/";

// topicOf returns the topic of a subscription, or undefined.
export function topicOf(path: string): string | undefined {
  const at = path.toLowerCase().lastIndexOf(between.toLowerCase());
  return at > 0 ? path.slice(0, at) : undefined;
}

// nameOf returns what a tree calls an entity.
export function nameOf(e: Pick<Entity, "path" | "kind">): string {
  const topic = e.kind === "subscription" ? topicOf(e.path) : undefined;
  return topic === undefined ? e.path : e.path.slice(topic.length + between.length);
}

// shown returns a path for tables and headings: topic/subscription. Where it is copied or typed, it is the path itself.
export function shown(path: string): string {
  const topic = topicOf(path);
  return topic === undefined ? path : `${topic}/${path.slice(topic.length + between.length)}`;
}

// clientOf names a client: by its container id, which programs can choose, but not by one that a library made up.
export function clientOf(c: { container?: string; product?: string; remote: string }): string {
  const made = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(c.container ?? "");
  return (made ? c.product || c.container : c.container || c.product) || c.remote;
}

// libraryOf says which library a client uses, as far as clientOf has not said it.
export const libraryOf = (c: { container?: string; product?: string; version?: string; remote: string }): string =>
  [clientOf(c) === c.product ? "" : c.product, c.version].filter(Boolean).join(" ");

export const deadLetters = "$DeadLetterQueue";

// words makes words of a name in one: LockDuration is lock duration.
export const words = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/ [A-Z](?![A-Z])/g, (s) => s.toLowerCase());

const collator = new Intl.Collator("en", { numeric: true });

// natural compares names as people order them: property-2 before property-10.
export const natural = (a: string, b: string): number => collator.compare(a, b);
