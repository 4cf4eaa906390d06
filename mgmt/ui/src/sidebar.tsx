// The left side: the namespace, the screens, and the entities with their counts.
import { computed, effect, signal } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import type { Entity } from "./api";
import { newEntity } from "./create";
import { number, short } from "./format";
import { Icon } from "./icons";
import { keptHere } from "./kept";
import { Empty, Name, Text } from "./kit";
import { nameOf, natural, shown, topicOf } from "./names";
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
  name?: string; // of the entity, without the folders that it is in
  heading?: string;
  folder?: string; // the part of the names that its entities share
  count?: number;
  sum?: Sum; // of a folder or a topic that is closed
  depth: number;
  level: number; // in the tree, where a heading is a root
  topic?: boolean; // has subscriptions below it
  open?: boolean; // undefined: nothing is below it
  place: [number, number]; // among those below the same row: its number, and how many there are
}

interface Sum {
  active: number;
  deadLetter: number;
}

const sumOf = (list: Entity[]): Sum => list.reduce((n, e) => ({ active: n.active + (e.kind === "topic" ? 0 : e.counts.active), deadLetter: n.deadLetter + e.counts.deadLetter }), { active: 0, deadLetter: 0 });

const key = (path: string) => current.value + "\n" + path;

const deadOnly = signal(false); // whether only entities with dead letters are shown

// Folder is a part of the tree of names: entities, and folders for those that share what stands before a slash.
interface Folder {
  folders: Map<string, Folder>;
  entities: Entity[];
}

function foldersOf(list: Entity[]): Folder {
  const root: Folder = { folders: new Map(), entities: [] };
  for (const e of list) {
    let at = root;
    const parts = e.path.split("/");
    for (const part of parts.slice(0, -1)) {
      let next = at.folders.get(part);
      if (!next) at.folders.set(part, (next = { folders: new Map(), entities: [] }));
      at = next;
    }
    at.entities.push(e);
  }
  return root;
}

const within = (f: Folder): Entity[] => [...f.entities, ...[...f.folders.values()].flatMap(within)];

// ranks order the paths; they are made anew only when there are others.
const paths = computed(() => (entities.value ?? []).map((e) => e.path).join("\n"));
const ranks = computed(() => new Map(paths.value.split("\n").sort(natural).map((p, i) => [p, i])));

// rows are what the tree shows: favourites, queues and topics, in folders where names have slashes, each topic with its subscriptions unless it is closed.
const rows = computed<Row[]>(() => {
  const list = (entities.value ?? []).toSorted((x, y) => ranks.value.get(x.path)! - ranks.value.get(y.path)!), text = search.value.trim().toLowerCase();
  const fits = (e: Entity) => shown(e.path).toLowerCase().includes(text) && (!deadOnly.value || e.counts.deadLetter > 0);
  const all = text !== "" || deadOnly.value; // that fits is shown, whatever is closed
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
  const isOpen = (k: string) => all || !closed.value.includes(key(k));
  const add = (e: Entity, name: string, depth: number, place: [number, number], k = e.path) => {
    const subs = k === e.path ? below.get(e.path.toLowerCase()) ?? [] : [], open = subs.length > 0 ? isOpen(e.path) : undefined;
    out.push({ key: k, entity: e, name, depth, level: depth + 2, topic: subs.length > 0, open, sum: open === false ? sumOf(subs) : undefined, place });
    if (open) subs.forEach((s, i) => out.push({ key: s.path, entity: s, name: nameOf(s), depth: depth + 1, level: depth + 3, place: [i + 1, subs.length] }));
  };
  const addFolder = (f: Folder, path: string, depth: number) => {
    const folders = [...f.folders], n = folders.length + f.entities.length;
    folders.forEach(([name, inner], i) => {
      const parts = [name];
      while (inner.entities.length === 0 && inner.folders.size === 1) { // folders with nothing else in them are one row
        const [[next, deeper]] = inner.folders as unknown as [[string, Folder]];
        parts.push(next);
        inner = deeper;
      }
      const full = path + parts.join("/") + "/", has = within(inner), place: [number, number] = [i + 1, n];
      if (has.length === 1) return add(has[0]!, has[0]!.path.slice(path.length), depth, place);
      const open = isOpen("/" + full);
      out.push({ key: "/" + full, folder: parts.join("/"), count: has.length, sum: open ? undefined : sumOf(has.flatMap((e) => [e, ...(below.get(e.path.toLowerCase()) ?? [])])), depth, level: depth + 2, open, place });
      if (open) addFolder(inner, full, depth + 1);
    });
    f.entities.forEach((e, i) => add(e, e.path.slice(path.length), depth, [folders.length + i + 1, n]));
  };
  const starred = all ? [] : list.filter((e) => isFavourite(e.path));
  const groups = [starred.length > 0 && "Favourites", queues.length > 0 && "Queues", topics.length > 0 && "Topics"].filter((t) => t !== false) as string[];
  const group = (title: string, of: Entity[], fill: () => void) => {
    if (of.length === 0) return;
    const open = isOpen("#" + title);
    out.push({ key: "#" + title, heading: title, count: of.length, depth: 0, level: 1, open, place: [groups.indexOf(title) + 1, groups.length] });
    if (open) fill();
  };
  const tree = (of: Entity[]) => (text ? of.forEach((e, i) => add(e, e.path, 0, [i + 1, of.length])) : addFolder(foldersOf(of), "", 0));
  group("Favourites", starred, () => starred.forEach((e, i) => add(e, shown(e.path), 0, [i + 1, starred.length], "*" + e.path)));
  group("Queues", queues, () => tree(queues));
  group("Topics", topics, () => tree(topics));
  return out;
});

function toggle(path: string): void {
  if (search.value.trim() || deadOnly.value) return; // all that fits is shown
  const k = key(path);
  closed.value = closed.value.includes(k) ? closed.value.filter((c) => c !== k) : [...closed.value, k];
}

function Counts({ e, sum }: { e?: Entity; sum?: Sum }) {
  const scheduled = e?.counts.scheduled ?? 0, dead = sum?.deadLetter ?? e?.counts.deadLetter ?? 0, held = sum ? sum.active : e && e.kind !== "topic" ? e.counts.active : undefined;
  return (
    <span class="counts">
      {e && e.status !== "Active" && <span class="badge warn" title={e.status}>off</span>}
      {scheduled > 0 && <span class="count scheduled" title={`${number(scheduled)} scheduled`}>{short(scheduled)}</span>}
      {dead > 0 && <span class="count dead" title={`${number(dead)} in the dead-letter queue`}>{short(dead)}</span>}
      <span class={`count ${held ? "active" : "none"}`} title={held === undefined ? undefined : `${number(held)} active`}>{held === undefined ? "" : short(held)}</span>
    </span>
  );
}

// active is the key of the row that the keys of the tree move; empty: none yet.
const active = signal("");

const idOf = (i: number) => "tree-" + i;

const pointed = signal(""); // the key of the row under the pointer, or that the keys have reached last

// Whole shows the name of that row if it is cut.
function Whole() {
  const [cut, set] = useState(false), at = pointed.value ? rows.value.findIndex((r) => r.key === pointed.value) : -1;
  useLayoutEffect(() => {
    const start = document.querySelector(`#${idOf(at)} .name-start`);
    set(start !== null && start.scrollWidth > start.clientWidth);
  });
  const row = rows.value[at];
  return cut && row ? <p class="whole" aria-hidden="true"><Text>{row.entity?.path ?? row.folder ?? ""}</Text></p> : null;
}

function Item({ row, i, at }: { row: Row; i: number; at: boolean }) {
  const r = route.value;
  const item = { id: idOf(i), role: "treeitem" as const, "aria-level": row.level, "aria-expanded": row.open, "aria-posinset": row.place[0], "aria-setsize": row.place[1], onPointerEnter: () => (pointed.value = row.key), onPointerLeave: () => (pointed.value = "") };
  if (row.heading) {
    return <div {...item} class={`tree-heading ${row.open ? "open" : ""} ${at ? "at" : ""}`} onClick={() => { active.value = row.key; toggle(row.key); }}><span>{row.heading}</span><span class="faint">{number(row.count ?? 0)}</span></div>;
  }
  const indent = { paddingLeft: row.depth * 14 + "px" };
  if (row.folder !== undefined) {
    return (
      <div {...item} class={`tree-row folder ${at ? "at" : ""}`} style={indent} onClick={() => { active.value = row.key; toggle(row.key); }}>
        <span class={`twist ${row.open ? "open" : ""}`} aria-hidden="true">›</span>
        <span class="folder-in"><Name class="tree-name">{row.folder + "/"}</Name><span class="faint folder-count">{number(row.count ?? 0)}</span>{row.sum && <Counts sum={row.sum} />}</span>
      </div>
    );
  }
  const e = row.entity!, name = row.name!;
  const here = r.screen === "entity" && r.rest[0]?.toLowerCase() === e.path.toLowerCase();
  const star = isFavourite(e.path);
  return (
    <div {...item} aria-selected={here} class={`tree-row ${here ? "here" : ""} ${at ? "at" : ""}`} style={indent}>
      {row.topic
        ? <button type="button" tabIndex={-1} class={`twist ${row.open ? "open" : ""}`} aria-label={`Subscriptions of ${name}`} aria-expanded={row.open} onClick={() => toggle(e.path)}>›</button>
        : <span class="twist" aria-hidden="true" />}
      <a href={link("entity", e.path)} tabIndex={-1} aria-current={here ? "page" : undefined} onClick={() => { active.value = row.key; menuOpen.value = false; }}>
        <span class={`icon ${e.kind}`} aria-hidden="true" />
        <Name class="tree-name">{name}</Name>
        <Counts e={e} sum={row.sum} />
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
  if (step.to !== undefined) pointed.value = active.value = list[step.to]!.key;
  else if (step.fold || (step.open && !row.entity)) toggle(row.key);
  else if (step.open && row.entity) {
    menuOpen.value = false;
    go(link("entity", row.entity.path));
  }
}

export const screens: { name: string; title: string; key: string; group: "See" | "Change" }[] = [
  { name: "", title: "Overview", key: "o", group: "See" },
  { name: "events", title: "Live events", key: "e", group: "See" },
  { name: "life", title: "Trace a message", key: "m", group: "See" },
  { name: "connections", title: "Connections", key: "c", group: "See" },
  { name: "jobs", title: "Jobs", key: "j", group: "See" },
  { name: "clock", title: "Clock", key: "k", group: "Change" },
  { name: "faults", title: "Faults", key: "f", group: "Change" },
  { name: "snapshots", title: "Snapshots", key: "n", group: "Change" },
  { name: "configuration", title: "Configuration", key: "i", group: "Change" },
  { name: "namespaces", title: "Namespaces", key: "a", group: "Change" },
  { name: "resource", title: "Azure resource", key: "r", group: "Change" },
  { name: "connect", title: "Connect", key: "s", group: "Change" },
];

const groups = ["See", "Change"] as const;

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
    <><h1>Namespace not found</h1><Empty title="There is no such namespace.">
      <p><b><Text>{current.value}</Text></b> was deleted or renamed, or the address is wrong.{list.length > 0 && " Choose one that there is:"}</p>
      <ul class="choose">{list.map((n) => <li key={n.name}><a href={linkIn(n.name, "")}><Text>{n.name}</Text></a>{n.default && list.length > 1 && <span class="faint"> default</span>}</li>)}</ul>
    </Empty></>
  );
}

const width = keptHere("side", 288), least = 220, most = 640; // px
effect(() => document.documentElement.style.setProperty("--side", width.value + "px"));

// Divider is the edge that makes the side wider, by the pointer or by arrows.
function Divider() {
  const set = (to: number) => (width.value = Math.round(Math.max(least, Math.min(to, most))));
  return (
    <div class="divider" role="separator" tabIndex={0} aria-orientation="vertical" aria-label="Width of the sidebar" aria-valuenow={width.value} aria-valuemin={least} aria-valuemax={most}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)} onPointerMove={(e) => { if (e.currentTarget.hasPointerCapture(e.pointerId)) set(e.clientX); }}
      onDblClick={() => set(288)} onKeyDown={(e) => { if (e.key === "ArrowLeft") set(width.value - 16); else if (e.key === "ArrowRight") set(width.value + 16); }} />
  );
}

export function Sidebar() {
  const r = route.value, list = rows.value;
  return (
    <aside class={`sidebar ${menuOpen.value ? "open" : ""}`} aria-label="Namespace">
      <div class="side-top">
        <Namespaces />
        <nav aria-label="Screens" class="screens">
          {groups.map((g) => (
            <ul key={g} aria-label={g}>{screens.filter((s) => s.group === g).map((s) => (
              <li key={s.name}><a href={link(s.name)} aria-current={r.screen === s.name ? "page" : undefined} onClick={() => (menuOpen.value = false)}><Icon name={s.name} />{s.title}</a></li>
            ))}</ul>
          ))}
        </nav>
        <div class="side-search">
          <input id="search" type="search" placeholder="Search entities  /" aria-label="Search entities" value={search.value} spellcheck={false}
            onInput={(e) => (search.value = e.currentTarget.value)} onKeyDown={(e) => { if (e.key === "Enter") openFirst(); if (e.key === "Escape") search.value = ""; }} />
          <button type="button" class="button dead-only" aria-pressed={deadOnly.value} aria-label="With dead letters only" title="With dead letters only" onClick={() => (deadOnly.value = !deadOnly.value)}><span aria-hidden="true" /></button>
          <a class="button" href={newEntity("queue")} title="New queue, topic or subscription (n)" aria-current={r.screen === "new" ? "page" : undefined} onClick={() => (menuOpen.value = false)}>New</a>
        </div>
      </div>
      {entities.value && list.length === 0 && (
        <p class="hint side-empty">{search.value ? "No matching entities." : deadOnly.value ? "No entity has dead letters." : "There are no entities yet. Create one with New."}</p>
      )}
      <Rows items={list} height={28} label="Entities" class="tree" role="tree" at={place.value} atId={place.value === undefined ? undefined : idOf(place.value)}
        onKeyDown={onTreeKey} onFocus={enterTree} onBlur={() => (pointed.value = "")} row={(row, i) => <Item key={row.key} row={row} i={i} at={i === place.value} />} />
      <Whole />
      <Divider />
    </aside>
  );
}
