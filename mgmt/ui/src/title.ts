// The title of the page, which names tabs, bookmarks and the history of the browser: payments · Dead letters (7) – Minibus.
import { effect } from "@preact/signals";
import { asksForKey } from "./auth";
import { number } from "./format";
import { shown } from "./names";
import { route, type Route } from "./route";
import { current, entityAt, missing, namespaces } from "./state";

const screens: Record<string, string> = {
  "": "Overview", events: "Live events", life: "Trace a message", connections: "Connections", clock: "Clock", jobs: "Jobs", configuration: "Configuration", faults: "Faults",
  snapshots: "Snapshots", connect: "Connect", namespaces: "Namespaces", resource: "Azure resource",
};

const tabs: Record<string, string> = {
  messages: "Messages", dead: "Dead letters", send: "Send", receive: "Receive", sessions: "Sessions", rules: "Rules", test: "Test a message", history: "History", why: "Why?", settings: "Settings",
};

// entityTitle names an entity, its view and how much that has: what is new there shows in the tab of the browser.
function entityTitle([path = "", tab = "", item]: string[]): string {
  const e = entityAt.value.get(path.toLowerCase()), c = e?.counts;
  const count = tab === "dead" ? c?.deadLetter : tab === "messages" && e?.kind !== "topic" ? c?.active : undefined;
  const message = (tab === "messages" || tab === "dead") && item ? ` #${item}` : "", view = tabs[tab];
  return shown(path) + (view ? ` · ${view}${message || (count ? ` (${number(count)})` : "")}` : "");
}

function titleOf({ screen, rest, query }: Route): string {
  if (missing.value) return "Namespace not found";
  if (screen === "entity") return entityTitle(rest);
  if (screen === "new") return `New ${query.kind ?? "queue"}`;
  return screens[screen] ?? "Not found";
}

// keepTitle gives each screen a title, with the name of the namespace if it is not the default one.
export function keepTitle(): void {
  effect(() => {
    const elsewhere = namespaces.value?.some((n) => n.name === current.value && !n.default) ? [current.value] : [];
    document.title = asksForKey.value ? "Minibus" : [titleOf(route.value), ...elsewhere, "Minibus"].join(" – ");
  });
}
