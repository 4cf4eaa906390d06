// The overview of a namespace: what there is, and what needs a look.
import { useMemo, useRef, useState } from "preact/hooks";
import { all, at, type Connection, type Entity } from "./api";
import { LastHour, RateTiles } from "./chart";
import { newEntity } from "./create";
import { Search } from "./events";
import { bytes, number, plural } from "./format";
import { JMSBadge } from "./jms";
import { Badge, Button, Empty, Loading, Name, Panel, Text, Tile, Time, type Children } from "./kit";
import { natural, shown, topicOf } from "./names";
import { usePoll } from "./poll";
import { link, refine, route, withQuery } from "./route";
import { Shell, Snippets } from "./connect";
import { entities } from "./state";

// Row is an entity as the overview lists it: a topic with what its subscriptions hold.
interface Row {
  e: Entity;
  in: number; // in the last minute
  out: number;
  active: number;
  dead: number;
  scheduled: number;
  receivers: number;
  oldest: number; // ms; Infinity: no message
  size: number;
}

function rowsOf(list: Entity[]): Row[] {
  const topics = new Map<string, Row>();
  const rows = list.map((e): Row => ({
    e, in: e.lastMinute.stored, out: e.lastMinute.completed, active: e.counts.active, dead: e.counts.deadLetter + e.counts.transferDeadLetter, scheduled: e.counts.scheduled,
    receivers: e.receivers, oldest: e.oldestEnqueued ? Date.parse(e.oldestEnqueued) : Infinity, size: e.counts.sizeBytes,
  }));
  for (const r of rows) if (r.e.kind === "topic") topics.set(r.e.path.toLowerCase(), r);
  for (const r of rows) {
    const topic = r.e.kind === "subscription" ? topics.get((topicOf(r.e.path) ?? "").toLowerCase()) : undefined;
    if (!topic) continue;
    for (const name of ["out", "active", "dead", "receivers"] as const) topic[name] += r[name];
    topic.oldest = Math.min(topic.oldest, r.oldest);
  }
  return rows;
}

const count = (n: number, href: string | undefined, tone = "") =>
  n === 0 ? <span class="faint">0</span> : href ? <a class={tone} href={href}>{number(n)}</a> : <span class={tone || "faint"} title="In its subscriptions">{number(n)}</span>;

const holds = (r: Row) => r.e.kind !== "topic";

interface Column {
  name: string;
  title: string;
  show: (r: Row) => Children;
  value: (r: Row) => number;
  tells?: (r: Row) => boolean; // worth a place on a phone
}

const columns: Column[] = [
  { name: "in", title: "In / min", show: (r) => count(r.in, undefined, "plain-number"), value: (r) => r.in, tells: (r) => r.in > 0 },
  { name: "out", title: "Out / min", show: (r) => count(r.out, undefined, "plain-number"), value: (r) => r.out, tells: (r) => r.out > 0 },
  { name: "active", title: "Active", show: (r) => count(r.active, holds(r) ? link("entity", r.e.path, "messages") : undefined, holds(r) ? "ink" : ""), value: (r) => r.active, tells: () => true },
  { name: "dead", title: "Dead letters", show: (r) => count(r.dead, holds(r) ? link("entity", r.e.path, "dead") : undefined, "dead-text"), value: (r) => r.dead, tells: (r) => r.dead > 0 },
  { name: "scheduled", title: "Scheduled", show: (r) => count(r.scheduled, link("entity", r.e.path, "messages"), "ink"), value: (r) => r.scheduled, tells: (r) => r.scheduled > 0 },
  { name: "receivers", title: "Receivers", show: (r) => count(r.receivers, undefined, "plain-number"), value: (r) => r.receivers, tells: (r) => r.receivers > 0 },
  { name: "oldest", title: "Oldest message", show: (r) => (r.oldest === Infinity ? <span class="faint">–</span> : <Time at={new Date(r.oldest).toISOString()} ageOnly />), value: (r) => -r.oldest },
  { name: "size", title: "Size", show: (r) => <span class="faint">{bytes(r.size)}</span>, value: (r) => r.size },
];

// weight puts what needs a look first: dead letters, then messages that wait.
const weight = (r: Row) => (holds(r) ? r.dead * 1e6 + r.active : 0) + r.scheduled;

const choices: [string, string, (r: Row) => boolean][] = [
  ["", "All", () => true],
  ["messages", "With messages", (r) => r.active + r.scheduled > 0],
  ["dead", "With dead letters", (r) => r.dead > 0],
  ["scheduled", "With scheduled messages", (r) => r.scheduled > 0],
  ["waiting", "Messages, but no receiver", (r) => holds(r) && r.active > 0 && r.receivers === 0],
];

const firstRows = 100;

// Entities lists the entities. It orders them when it is opened and when the reader asks for it, so no row moves under the pointer.
function Entities({ rows }: { rows: Row[] }) {
  const { query } = route.value;
  const only = choices.find(([name]) => name === (query.only ?? "")) ?? choices[0]!, text = (query.text ?? "").toLowerCase();
  const [by, down] = [query.sort ?? "", query.order !== "ascending"];
  const [turn, setTurn] = useState(0), [most, setMost] = useState(firstRows);
  const order = useRef<{ key: string; places: Map<string, number> }>(undefined);
  const key = JSON.stringify([route.value.namespace, only[0], text, by, down, turn]);
  const value = by === "" ? weight : columns.find((c) => c.name === by)?.value;
  const fitting = useMemo(() => {
    const list = rows.filter((r) => only[2](r) && shown(r.e.path).toLowerCase().includes(text));
    return list.sort((a, b) => (value ? (value(b) - value(a) || 0) * (down ? 1 : -1) : 0) || natural(a.e.path, b.e.path) * (value || down ? 1 : -1));
  }, [rows, key]);
  if (order.current?.key !== key) order.current = { key, places: new Map(fitting.map((r, i) => [r.e.path, i])) };
  const places = order.current.places;
  for (const r of fitting) if (!places.has(r.e.path)) places.set(r.e.path, places.size); // a new one comes last
  const list = rows.filter((r) => places.has(r.e.path)).sort((a, b) => places.get(a.e.path)! - places.get(b.e.path)!);
  const stale = list.length !== fitting.length || fitting.some((r, i) => list[i] !== r);
  const sort = (name: string) => refine({ sort: name, order: by === name && down ? "ascending" : undefined });
  const head = (name: string, title: string, right: boolean) => (
    <th key={name} role="columnheader" class={right ? "right" : ""} aria-sort={by === name ? (down ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick={() => sort(name)}>{title}{by === name && (down ? " ↓" : " ↑")}</button>
    </th>
  );
  return (
    <Panel title={plural(rows.length, "entity", "entities")} flush actions={<a class="button small" href={newEntity("queue")}>New entity</a>}>
      <div class="bar pad-bar">
        <Search label="Filter by name" value={query.text ?? ""} set={(text) => refine({ text })} />
        <select aria-label="Which entities" value={only[0]} onChange={(e) => refine({ only: e.currentTarget.value || undefined })}>
          {choices.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
        </select>
        <Button disabled={!stale} act={() => setTurn(turn + 1)} title="Sorts by the current counts. The list keeps its order until then.">Sort again</Button>
        {list.length < rows.length && <span class="faint middle">{number(list.length)} shown</span>}
      </div>
      {list.length === 0 && <Empty title="No entity matches."><p><a href={link("")}>Show all</a></p></Empty>}
      {list.length > 0 && (
        <table role="table" class="plain stacks overview" aria-label="Entities">
          <thead role="rowgroup"><tr role="row">{head("name", "Entity", false)}{columns.map((c) => head(c.name, c.title, true))}</tr></thead>
          <tbody role="rowgroup">{list.slice(0, most).map((r) => (
            <tr key={r.e.path} role="row">
              <td role="cell"><a class="entity-name" href={link("entity", r.e.path)}><span class={`icon ${r.e.kind}`} aria-hidden="true" /><Name>{shown(r.e.path)}</Name><JMSBadge e={r.e} /></a>{r.e.status !== "Active" && <> <Badge tone="warn">{r.e.status}</Badge></>}</td>
              {columns.map((c) => <td key={c.name} role="cell" class={`right ${c.tells?.(r) ? "" : "wide-only"}`} data-label={c.title.toLowerCase()}>{c.show(r)}</td>)}
            </tr>
          ))}</tbody>
        </table>
      )}
      {list.length > most && <p class="pad-bar"><Button act={() => setMost(list.length)}>{`Show all ${number(list.length)}`}</Button></p>}
    </Panel>
  );
}

// Clients counts the connections.
function Clients() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 10_000, (signal) => all<Connection>(at`${namespace}/connections`, {}, 1000, signal));
  return <Tile name="Connections" value={p.value ? number(p.value.length) : "–"} to={link("connections")} title="Connected clients" />;
}

export function Overview() {
  const list = entities.value;
  const rows = useMemo(() => rowsOf(list ?? []), [list]);
  if (!list) return <Loading />;
  const holders = list.filter((e) => e.kind !== "topic"), sent = list.filter((e) => e.kind !== "subscription"); // what is sent to a topic counts once, not its copies
  const sum = (of: (e: Entity) => number, from = holders) => from.reduce((n, e) => n + of(e), 0);
  const dead = sum((e) => e.counts.deadLetter + e.counts.transferDeadLetter), scheduled = sum((e) => e.counts.scheduled, list), active = sum((e) => e.counts.active);
  const messages = active + scheduled + dead, first = list.find((e) => e.kind === "queue" && !e.temporary)?.path ?? list.find((e) => e.kind === "topic")?.path;
  const minute = { stored: sum((e) => e.lastMinute.stored, sent), completed: sum((e) => e.lastMinute.completed, list) };
  const only = (name: string) => withQuery(link(""), { only: name });
  return (
    <>
      <h1><Text>{route.value.namespace}</Text></h1>
      <div class="tiles">
        <Tile name="Entities" value={number(list.length)} to={link("")} title="All entities" />
        <Tile name="Active" value={number(active)} to={only("messages")} title="Entities with messages" />
        <Tile name="Dead letters" value={number(dead)} tone="dead" to={only("dead")} title="Entities with dead letters" />
        <Tile name="Scheduled" value={number(scheduled)} to={only("scheduled")} title="Entities with scheduled messages" />
        <Tile name="Size" value={bytes(sum((e) => e.counts.sizeBytes, sent))} />
        <RateTiles minute={minute} />
        <Clients />
      </div>
      {list.length === 0 && <NoEntities />}
      {first !== undefined && messages === 0 && (
        <Panel title="No messages yet" actions={<a class="button primary small" href={link("entity", first, "send")}>Send a message</a>}><Snippets entity={first} /></Panel>
      )}
      <LastHour had={messages > 0 || list.some((e) => e.traffic.stored > 0)} now={{ minute, active, deadLetter: dead, scheduled }} />
      <Refused list={list} />
      {list.length > 0 && <Entities rows={rows} />}
    </>
  );
}

// Refused lists what Azure would have refused, and where to read more.
function Refused({ list }: { list: Entity[] }) {
  const notes = list.flatMap((e) => (e.beyondAzure ?? []).map((b) => ({ e, ...b })));
  if (notes.length === 0) return null;
  return (
    <Panel title="Azure would have refused" flush>
      <table class="plain" aria-label="Azure would have refused">
        <tbody>{notes.slice(0, 20).map((n) => (
          <tr key={n.e.path + n.rule}><td><a class="entity-name" href={link("entity", n.e.path, "why")}><Name>{shown(n.e.path)}</Name></a></td><td><Text>{n.text}</Text></td><td class="right">{number(n.count)}×</td></tr>
        ))}</tbody>
      </table>
    </Panel>
  );
}

function NoEntities() {
  return (
    <Panel title="This namespace is empty">
      <Empty title="Create the first queue here, in a shell, or with your SDK’s administration client. It appears at once.">
        <p><a class="button primary" href={newEntity("queue")}>New queue</a> <a class="button" href={newEntity("topic")}>New topic</a> <a class="button" href={link("configuration")}>From a Config.json</a></p>
      </Empty>
      <Shell lines={["minibus queue create orders", "minibus topic create events", "minibus sub create events/audit"]} />
    </Panel>
  );
}
