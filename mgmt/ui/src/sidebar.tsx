// The left side: the namespace, the screens, and the entities with their counts.
import { computed, signal } from "@preact/signals";
import type { Entity } from "./api";
import { newEntity } from "./create";
import { number, short } from "./format";
import { keptHere } from "./kept";
import { Text } from "./kit";
import { nameOf, topicOf } from "./names";
import { go, link, linkIn, route } from "./route";
import { current, entities, favourites, isFavourite, namespaces, toggleFavourite } from "./state";
import { Rows } from "./virtual";

const search = signal("");
const closed = keptHere<string[]>("closed", []);

// menuOpen is for narrow screens, where the side is hidden.
export const menuOpen = signal(false);

interface Row {
  key: string;
  entity?: Entity;
  heading?: string;
  count?: number;
  depth: number;
  topic?: boolean; // has subscriptions below it
  open?: boolean;
}

const key = (path: string) => current.value + "\n" + path;

// rows are what the tree shows: favourites, queues, topics, each topic with its subscriptions unless it is closed.
const rows = computed<Row[]>(() => {
  const list = entities.value ?? [], text = search.value.trim().toLowerCase();
  const fits = (e: Entity) => e.path.toLowerCase().includes(text);
  const queues = list.filter((e) => e.kind === "queue" && fits(e));
  const below = new Map<string, Entity[]>();
  for (const e of list) {
    const topic = e.kind === "subscription" && topicOf(e.path)?.toLowerCase();
    if (!topic || !fits(e)) continue;
    const of = below.get(topic);
    if (of) of.push(e);
    else below.set(topic, [e]);
  }
  const topics = list.filter((e) => e.kind === "topic" && (fits(e) || below.has(e.path.toLowerCase())));
  const out: Row[] = [];
  const starred = text ? [] : list.filter((e) => favourites.value.includes(key(e.path)));
  const heading = (title: string, count: number) => count > 0 && out.push({ key: "#" + title, heading: title, count, depth: 0 });
  heading("Favourites", starred.length);
  for (const e of starred) out.push({ key: "*" + e.path, entity: e, depth: 0 });
  heading("Queues", queues.length);
  for (const e of queues) out.push({ key: e.path, entity: e, depth: 0 });
  heading("Topics", topics.length);
  for (const e of topics) {
    const subs = below.get(e.path.toLowerCase()) ?? [];
    const open = text !== "" || !closed.value.includes(key(e.path));
    out.push({ key: e.path, entity: e, depth: 0, topic: subs.length > 0, open });
    if (open) for (const s of subs) out.push({ key: s.path, entity: s, depth: 1 });
  }
  return out;
});

function toggle(path: string): void {
  const k = key(path);
  closed.value = closed.value.includes(k) ? closed.value.filter((c) => c !== k) : [...closed.value, k];
}

function Counts({ e }: { e: Entity }) {
  const c = e.counts;
  return (
    <span class="counts">
      {e.status !== "Active" && <span class="badge warn" title={e.status}>off</span>}
      {c.scheduled > 0 && <span class="count scheduled" title={`${number(c.scheduled)} scheduled`}>{short(c.scheduled)}</span>}
      {c.deadLetter > 0 && <span class="count dead" title={`${number(c.deadLetter)} in the dead-letter queue`}>{short(c.deadLetter)}</span>}
      {e.kind !== "topic" && <span class={`count ${c.active ? "active" : "none"}`} title={`${number(c.active)} active`}>{short(c.active)}</span>}
    </span>
  );
}

function Item({ row }: { row: Row }) {
  if (row.heading) return <div class="tree-heading" role="listitem"><span>{row.heading}</span><span class="faint">{number(row.count ?? 0)}</span></div>;
  const e = row.entity!, name = nameOf(e);
  const here = route.value.screen === "entity" && route.value.rest[0]?.toLowerCase() === e.path.toLowerCase();
  const star = isFavourite(e.path);
  return (
    <div class={`tree-row depth-${row.depth} ${here ? "here" : ""}`} role="listitem">
      {row.topic
        ? <button type="button" class={`twist ${row.open ? "open" : ""}`} aria-label={`Subscriptions of ${name}`} aria-expanded={row.open} onClick={() => toggle(e.path)}>›</button>
        : <span class="twist" aria-hidden="true" />}
      <a href={link("entity", e.path)} aria-current={here ? "page" : undefined} onClick={() => (menuOpen.value = false)}>
        <span class={`icon ${e.kind}`} aria-hidden="true" />
        <Text class="tree-name">{name}</Text>
        <Counts e={e} />
      </a>
      <button type="button" class={`star ${star ? "on" : ""}`} aria-pressed={star} aria-label={`Favourite ${name}`} onClick={() => toggleFavourite(e.path)}>★</button>
    </div>
  );
}

export const screens: { name: string; title: string; key: string }[] = [
  { name: "", title: "Overview", key: "o" },
  { name: "events", title: "Live events", key: "e" },
  { name: "connections", title: "Connections", key: "c" },
  { name: "jobs", title: "Jobs", key: "j" },
  { name: "clock", title: "Clock", key: "k" },
  { name: "connect", title: "Connect", key: "s" },
  { name: "configuration", title: "Configuration", key: "i" },
];

// focusSearch puts the cursor into the search of entities.
export function focusSearch(): void {
  menuOpen.value = true;
  setTimeout(() => document.querySelector<HTMLInputElement>("#search")?.focus());
}

function openFirst(): void {
  const first = rows.value.find((r) => r.entity)?.entity;
  if (first) go(link("entity", first.path));
  menuOpen.value = false;
}

function Namespaces() {
  const list = namespaces.value ?? [];
  return (
    <select aria-label="Namespace" class="namespace" value={current.value} onChange={(e) => go(linkIn(e.currentTarget.value, ""))}>
      {list.map((n) => <option key={n.name} value={n.name}>{n.name}{n.default && list.length > 1 ? " (default)" : ""}</option>)}
      {!list.some((n) => n.name === current.value) && <option value={current.value}>{current.value || "…"}</option>}
    </select>
  );
}

export function Sidebar() {
  const r = route.value, shown = rows.value;
  return (
    <aside class={`sidebar ${menuOpen.value ? "open" : ""}`} aria-label="Namespace">
      <div class="side-top">
        <Namespaces />
        <nav aria-label="Screens" class="screens">
          {screens.map((s) => (
            <a key={s.name} href={link(s.name)} aria-current={r.screen === s.name ? "page" : undefined} onClick={() => (menuOpen.value = false)}>{s.title}</a>
          ))}
        </nav>
        <div class="side-search">
          <input id="search" type="search" placeholder="Search entities  /" aria-label="Search entities" value={search.value} spellcheck={false}
            onInput={(e) => (search.value = e.currentTarget.value)} onKeyDown={(e) => { if (e.key === "Enter") openFirst(); if (e.key === "Escape") search.value = ""; }} />
          <a class="button" href={newEntity("queue")} title="New queue, topic or subscription (n)" aria-current={r.screen === "new" ? "page" : undefined} onClick={() => (menuOpen.value = false)}>New</a>
        </div>
      </div>
      <Rows items={shown} height={28} label="Entities" class="tree" row={(row) => <Item key={row.key} row={row} />} />
      {entities.value && shown.length === 0 && (
        <p class="hint side-empty">{search.value ? "No entity has this in its name." : "There are no entities yet. New makes one."}</p>
      )}
    </aside>
  );
}
