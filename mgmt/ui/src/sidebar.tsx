// The left side: the namespace, the screens, and the entities with their counts.
import { computed, signal } from "@preact/signals";
import type { Entity } from "./api";
import { newEntity } from "./create";
import { number, short } from "./format";
import { keptHere } from "./kept";
import { Empty, Name, Text } from "./kit";
import { nameOf, topicOf } from "./names";
import { go, link, linkIn, route } from "./route";
import { current, entities, isFavourite, namespaces, toggleFavourite } from "./state";
import { stepOf } from "./tree";
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
  level: number; // in the tree, where a heading is a root
  topic?: boolean; // has subscriptions below it
  open?: boolean; // undefined: nothing is below it
  place: [number, number]; // among those below the same row: its number, and how many there are
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
  const starred = text ? [] : list.filter((e) => isFavourite(e.path));
  const group = (title: string, of: Entity[], add: (e: Entity, place: [number, number]) => void) => {
    if (of.length === 0) return;
    const open = text !== "" || !closed.value.includes(key("#" + title));
    out.push({ key: "#" + title, heading: title, count: of.length, depth: 0, level: 1, open, place: [groups.indexOf(title) + 1, groups.length] });
    if (open) of.forEach((e, i) => add(e, [i + 1, of.length]));
  };
  const groups = [starred.length > 0 && "Favourites", queues.length > 0 && "Queues", topics.length > 0 && "Topics"].filter((t) => t !== false) as string[];
  group("Favourites", starred, (e, place) => out.push({ key: "*" + e.path, entity: e, depth: 0, level: 2, place }));
  group("Queues", queues, (e, place) => out.push({ key: e.path, entity: e, depth: 0, level: 2, place }));
  group("Topics", topics, (e, place) => {
    const subs = below.get(e.path.toLowerCase()) ?? [];
    const open = text !== "" || !closed.value.includes(key(e.path));
    out.push({ key: e.path, entity: e, depth: 0, level: 2, topic: subs.length > 0, open: subs.length > 0 ? open : undefined, place });
    if (open) subs.forEach((s, i) => out.push({ key: s.path, entity: s, depth: 1, level: 3, place: [i + 1, subs.length] }));
  });
  return out;
});

function toggle(path: string): void {
  if (search.value.trim()) return; // all that fits is shown
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

// active is the key of the row that the keys of the tree move; empty: none yet.
const active = signal("");

const idOf = (i: number) => "tree-" + i;

function Item({ row, i, at }: { row: Row; i: number; at: boolean }) {
  const r = route.value;
  const item = { id: idOf(i), role: "treeitem" as const, "aria-level": row.level, "aria-expanded": row.open, "aria-posinset": row.place[0], "aria-setsize": row.place[1] };
  if (row.heading) {
    return <div {...item} class={`tree-heading ${row.open ? "open" : ""} ${at ? "at" : ""}`} onClick={() => { active.value = row.key; toggle(row.key); }}><span>{row.heading}</span><span class="faint">{number(row.count ?? 0)}</span></div>;
  }
  const e = row.entity!, name = nameOf(e);
  const here = r.screen === "entity" && r.rest[0]?.toLowerCase() === e.path.toLowerCase();
  const star = isFavourite(e.path);
  return (
    <div {...item} aria-selected={here} class={`tree-row depth-${row.depth} ${here ? "here" : ""} ${at ? "at" : ""}`}>
      {row.topic
        ? <button type="button" tabIndex={-1} class={`twist ${row.open ? "open" : ""}`} aria-label={`Subscriptions of ${name}`} aria-expanded={row.open} onClick={() => toggle(e.path)}>›</button>
        : <span class="twist" aria-hidden="true" />}
      <a href={link("entity", e.path)} tabIndex={-1} aria-current={here ? "page" : undefined} onClick={() => { active.value = row.key; menuOpen.value = false; }}>
        <span class={`icon ${e.kind}`} aria-hidden="true" />
        <Name class="tree-name">{name}</Name>
        <Counts e={e} />
      </a>
      <button type="button" tabIndex={-1} class={`star ${star ? "on" : ""}`} aria-pressed={star} aria-label={`Favourite ${name}`} onClick={() => toggleFavourite(e.path)}>★</button>
    </div>
  );
}

// place is the place of the active row, or undefined. A row that has gone leaves the first one active.
const place = computed(() => {
  if (!active.value) return undefined;
  const at = rows.value.findIndex((r) => r.key === active.value);
  return at < 0 ? 0 : at;
});

// enterTree makes the entity that is open active, or else the first row.
function enterTree(): void {
  if (active.value && rows.value.some((r) => r.key === active.value)) return;
  const open = route.value.screen === "entity" ? route.value.rest[0]?.toLowerCase() : undefined;
  active.value = (rows.value.find((r) => r.entity && r.entity.path.toLowerCase() === open) ?? rows.value[0])?.key ?? "";
}

function onTreeKey(e: KeyboardEvent): void {
  const own = (e.target as Element).closest("button");
  if (e.ctrlKey || e.metaKey || e.altKey || (own && (e.key === "Enter" || e.key === " "))) return;
  enterTree();
  const list = rows.value, at = place.value ?? 0, row = list[at], step = stepOf(list, at, e.key);
  if (!step || !row) return;
  e.preventDefault();
  (e.currentTarget as HTMLElement).focus();
  if (step.to !== undefined) active.value = list[step.to]!.key;
  else if (step.fold || (step.open && !row.entity)) toggle(row.key);
  else if (step.open && row.entity) {
    menuOpen.value = false;
    go(link("entity", row.entity.path));
  }
}

export const screens: { name: string; title: string; key: string }[] = [
  { name: "", title: "Overview", key: "o" },
  { name: "events", title: "Live events", key: "e" },
  { name: "connections", title: "Connections", key: "c" },
  { name: "jobs", title: "Jobs", key: "j" },
  { name: "clock", title: "Clock", key: "k" },
  { name: "faults", title: "Faults", key: "f" },
  { name: "snapshots", title: "Snapshots", key: "n" },
  { name: "connect", title: "Connect", key: "s" },
  { name: "configuration", title: "Configuration", key: "i" },
];

// focusSearch puts the cursor into the search of entities as soon as the menu is drawn, before the next key arrives: a timer would come after it.
export function focusSearch(): void {
  menuOpen.value = true;
  queueMicrotask(() => document.querySelector<HTMLInputElement>("#search")?.focus());
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

// Missing stands in place of a screen of a namespace that there is not.
export function Missing() {
  const list = namespaces.value ?? [];
  return (
    <Empty title="There is no such namespace.">
      <p><b><Text>{current.value}</Text></b> was deleted or renamed, or the address is wrong.{list.length > 0 && " Choose one that there is:"}</p>
      <ul class="choose">{list.map((n) => <li key={n.name}><a href={linkIn(n.name, "")}><Text>{n.name}</Text></a>{n.default && list.length > 1 && <span class="faint"> default</span>}</li>)}</ul>
    </Empty>
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
      {entities.value && shown.length === 0 && (
        <p class="hint side-empty">{search.value ? "No entity has this in its name." : "There are no entities yet. New makes one."}</p>
      )}
      <Rows items={shown} height={28} label="Entities" class="tree" role="tree" at={place.value} atId={place.value === undefined ? undefined : idOf(place.value)}
        onKeyDown={onTreeKey} onFocus={enterTree} row={(row, i) => <Item key={row.key} row={row} i={i} at={i === place.value} />} />
    </aside>
  );
}
