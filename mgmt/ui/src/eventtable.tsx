// Events as a table, for the live stream and the history of an entity.
import type { Event } from "./api";
import { plural } from "./format";
import { Badge, Text, Time } from "./kit";
import { shown } from "./names";
import { go, link, withQuery } from "./route";
import { Table, type Column } from "./virtual";

// words are the kinds of events in plain words.
const words: Record<string, string> = {
  sent: "sent", scheduled: "scheduled", copied: "copied", forwardedHere: "forwarded here", activated: "activated", delivered: "delivered",
  receivedAndDeleted: "received and deleted", lockRenewed: "lock renewed", completed: "completed", abandoned: "abandoned", released: "released",
  deferred: "deferred", lockExpired: "lock expired", returned: "returned", deadLettered: "dead-lettered", expired: "expired", forwarded: "forwarded",
  duplicate: "duplicate", cancelled: "cancelled", purged: "purged", sendRefused: "send refused", settlementRefused: "settlement refused",
  rescheduled: "rescheduled", fault: "fault", sessionBroken: "session broken",
};

export const kinds = Object.keys(words);

export const wordsOf = (kind: string) => words[kind] ?? kind;

const bad = new Set(["deadLettered", "sendRefused", "settlementRefused"]);
const doubtful = new Set(["lockExpired", "abandoned", "expired", "returned", "duplicate", "purged", "cancelled", "fault", "sessionBroken"]);
const good = new Set(["completed", "receivedAndDeleted"]);

export const toneOf = (kind: string) => (bad.has(kind) ? "bad" : doubtful.has(kind) ? "warn" : good.has(kind) ? "good" : "");

// detailOf is the detail of an event, with a path as tables have it.
const detailOf = (e: Event) => (e.detail && e.kind.startsWith("forwarded") ? shown(e.detail) : e.detail);

export const entityOf = (e: Event) => (e.subQueue ? e.entity + "/" + e.subQueue : e.entity);

// lifeOf returns the address of the life of an event's message.
export function lifeOf(e: Event): string {
  if (e.sequenceNumber) return withQuery(link("life"), { entity: e.entity, sequenceNumber: e.sequenceNumber });
  return withQuery(link("life"), { messageId: e.messageId });
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// clientName is what people know a client by: its container, unless that is a random id.
const clientName = (c: NonNullable<Event["client"]>): string => (c.container && !uuid.test(c.container) ? c.container : c.product || c.container || c.remote);

// Client names a client, with a link to its connection if it has one.
export function Client({ c }: { c: NonNullable<Event["client"]> }) {
  const name = <Text>{clientName(c)}</Text>;
  return c.connection ? <a href={withQuery(link("connections"), { connection: c.connection })}>{name}</a> : name;
}

// clientOf says who did it. A narrow column cuts the end alone.
export const clientOf = (e: Event): string => (e.client ? [clientName(e.client), e.client.connection].filter(Boolean).join(" · ") : "");

const columns: Column<Event>[] = [
  { name: "time", title: "Time", width: "222px", show: (e) => <Time at={e.time} millis brief /> },
  { name: "kind", title: "What", width: "172px", show: (e) => <Badge tone={toneOf(e.kind)}>{wordsOf(e.kind)}</Badge> },
  { name: "entity", title: "Entity", width: "minmax(140px, 1fr)", show: (e) => <a href={link("entity", e.entity)}><Text>{shown(entityOf(e))}</Text></a> },
  { name: "message", title: "Message", width: "minmax(120px, 1fr)", show: (e) =>
    e.sequenceNumber || e.messageId ? <a href={lifeOf(e)} title="Trace the message">{e.sequenceNumber ? "#" + e.sequenceNumber : ""} {e.messageId && <Text class="faint">{e.messageId}</Text>}</a> : null },
  { name: "detail", title: "Detail", width: "minmax(140px, 1.4fr)", show: (e) => (e.detail ? <Text>{detailOf(e)!}</Text> : e.copies !== undefined ? <span class="faint">{plural(e.copies, "copy", "copies")}</span> : null) },
  { name: "client", title: "Client", width: "minmax(120px, .8fr)", show: (e) => {
    const c = clientOf(e);
    return c && <Text class="faint">{c}</Text>;
  } },
];

function Brief({ e, entity }: { e: Event; entity: boolean }) {
  return (
    <div class="brief-lines">
      <div><Badge tone={toneOf(e.kind)}>{wordsOf(e.kind)}</Badge> {e.detail && <Text class="faint">{detailOf(e)!}</Text>}<span class="push faint"><Time at={e.time} ageOnly="short" /></span></div>
      <div>{entity && <Text>{shown(entityOf(e))}</Text>} {(e.sequenceNumber || e.messageId) && <a href={lifeOf(e)}>{e.sequenceNumber ? "#" + e.sequenceNumber : ""} <Text>{e.messageId ?? ""}</Text></a>}</div>
    </div>
  );
}

export function EventTable({ events, label, without = [] }: { events: Event[]; label: string; without?: string[] }) {
  return <Table items={events} columns={columns.filter((c) => !without.includes(c.name))} id={(e) => e.number} label={label}
    open={(e) => { if (e.sequenceNumber || e.messageId) go(lifeOf(e)); }} brief={(e) => <Brief e={e} entity={!without.includes("entity")} />} />;
}
