// The overview of a namespace: what there is, and what needs a look.
import { all, at, type Connection, type Entity } from "./api";
import { Chart, RateTiles } from "./chart";
import { newEntity } from "./create";
import { bytes, number, plural } from "./format";
import { Badge, Empty, Loading, Panel, Text, Tile } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { go, link, route } from "./route";
import { Shell, Snippets } from "./connect";
import { entities } from "./state";
import { Table, type Column } from "./virtual";

export const status = (e: Entity) => (e.status === "Active" ? <span class="faint">active</span> : <Badge tone="warn">{e.status}</Badge>);

const count = (n: number, tone = "") => (n ? <span class={tone}>{number(n)}</span> : <span class="faint">0</span>);

const columns: Column<Entity>[] = [
  { name: "path", title: "Entity", width: "minmax(150px, 1fr)", show: (e) => <a href={link("entity", e.path)}><span class={`icon ${e.kind}`} aria-hidden="true" /><Text>{shown(e.path)}</Text></a> },
  { name: "active", title: "Active", width: "84px", right: true, show: (e) => count(e.counts.active) },
  { name: "dead", title: "Dead letters", width: "92px", right: true, show: (e) => count(e.counts.deadLetter, "dead-text") },
  { name: "scheduled", yields: 3, title: "Scheduled", width: "88px", right: true, show: (e) => count(e.counts.scheduled) },
  { name: "size", yields: 4, title: "Size", width: "84px", right: true, show: (e) => <span class="faint">{bytes(e.counts.sizeBytes)}</span> },
  { name: "status", yields: 2, title: "Status", width: "130px", show: status },
];

// weight puts what needs a look first: dead letters, then messages that wait.
const weight = (e: Entity) => e.counts.deadLetter * 1e6 + (e.kind === "topic" ? 0 : e.counts.active) + e.counts.scheduled;

// Clients counts the connections.
function Clients() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 10_000, (signal) => all<Connection>(at`${namespace}/connections`, {}, 1000, signal));
  return <Tile name="Connections" value={p.value ? number(p.value.length) : "–"} to={link("connections")} title="Clients that are connected" />;
}

export function Overview() {
  const list = entities.value;
  if (!list) return <Loading />;
  const holders = list.filter((e) => e.kind !== "topic");
  const sum = (of: (e: Entity) => number, from = holders) => from.reduce((n, e) => n + of(e), 0);
  const dead = sum((e) => e.counts.deadLetter + e.counts.transferDeadLetter), messages = sum((e) => e.counts.active) + sum((e) => e.counts.scheduled, list) + dead;
  const sorted = [...list].sort((a, b) => weight(b) - weight(a));
  return (
    <>
      <h1><Text>{route.value.namespace}</Text></h1>
      <div class="tiles">
        <Tile name="Entities" value={number(list.length)} />
        <Tile name="Active" value={number(sum((e) => e.counts.active))} />
        <Tile name="Dead letters" value={number(dead)} tone={dead ? "dead" : ""} />
        <Tile name="Scheduled" value={number(sum((e) => e.counts.scheduled, list))} />
        <Tile name="Size" value={bytes(sum((e) => e.counts.sizeBytes, list.filter((e) => e.kind !== "subscription")))} />
        <RateTiles />
        <Clients />
      </div>
      {list.length === 0 && <NoEntities />}
      {list.length > 0 && messages === 0 && (
        <Panel title="No messages yet. Send the first one"><Snippets entity={list.find((e) => e.kind === "queue")?.path ?? list[0]!.path} /></Panel>
      )}
      {list.length > 0 && <Panel title="Messages"><Chart /></Panel>}
      {list.length > 0 && (
        <Panel title={plural(list.length, "entity", "entities")} flush actions={<a class="button small" href={newEntity("queue")}>New entity</a>}>
          <Table items={sorted} columns={columns} id={(e) => e.path} label="Entities, those with dead letters first" most={16} open={(e) => go(link("entity", e.path))} />
        </Panel>
      )}
    </>
  );
}

function NoEntities() {
  return (
    <Panel title="This namespace is empty">
      <Empty title="Make the first queue here, in a shell, or with your SDK’s administration client. It appears at once.">
        <p><a class="button primary" href={newEntity("queue")}>New queue</a> <a class="button" href={newEntity("topic")}>New topic</a> <a class="button" href={link("configuration")}>From a Config.json</a></p>
      </Empty>
      <Shell lines={["minibus queue create orders", "minibus topic create events", "minibus sub create events/audit"]} />
    </Panel>
  );
}
