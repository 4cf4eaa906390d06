// Where in the explorer the reader is: the part of the address after #. So every screen has an address of its own, and back works.
import { computed, signal } from "@preact/signals";

export interface Route {
  namespace: string;
  screen: string; // the first word after the namespace; empty: the overview
  rest: string[];
  query: Record<string, string>;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => show(location.hash));

// leaving reports whether the address is another one already, and the event for it has yet to come.
export const leaving = (): boolean => location.hash !== hash.value;

// Guard is asked before another screen takes the place of the one that set it. It calls leave if it may.
type Guard = (leave: () => void) => void;

let guard: Guard | undefined;

// holdBack sets the guard; nothing: there is none.
export function holdBack(g?: Guard): void {
  guard = g;
}

const screenOf = (address: string) => address.split("?", 1)[0];

function show(next: string): void {
  if (!guard || screenOf(next) === screenOf(hash.value)) {
    hash.value = next;
    return;
  }
  history.pushState(null, "", hash.value); // the address stays that of the screen
  guard(() => {
    guard = undefined;
    go(next);
  });
}

function decode(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  }
}

export const route = computed<Route>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
  const [namespace = "", screen = "", ...rest] = path.split("/").map(decode);
  return { namespace, screen, rest, query: Object.fromEntries(new URLSearchParams(query)) };
});

// link returns the address of a screen of the current namespace: link("entity", "orders", "why").
export function link(screen: string, ...rest: string[]): string {
  return linkIn(route.value.namespace, screen, ...rest);
}

export function linkIn(namespace: string, screen: string, ...rest: string[]): string {
  return "#/" + [namespace, screen, ...rest].filter((s) => s !== "").map(encodeURIComponent).join("/");
}

export function withQuery(address: string, query: Record<string, string | number | undefined>): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") all.set(name, String(value));
  const text = all.toString();
  return text ? address + "?" + text : address;
}

// go shows a screen before the next key arrives, which is for that screen. The event of the browser comes after it.
export function go(address: string): void {
  location.hash = address;
  show(location.hash);
}

// refine changes arguments of the address without a step that back would take.
export function refine(query: Record<string, string | undefined>): void {
  const [path = "#/"] = location.hash.split("?", 1);
  const next = withQuery(path, { ...route.value.query, ...query });
  if (next === location.hash) return;
  history.replaceState(null, "", next);
  hash.value = next;
}
