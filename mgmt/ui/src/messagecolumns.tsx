// The columns of a table of messages, those of application properties among them, and the choice of them.
import { useState } from "preact/hooks";
import { bytes, number } from "./format";
import { keptHere } from "./kept";
import { Badge, Button, Name, Text, Time, type Children } from "./kit";
import { Menu } from "./menu";
import { list, preview, textOfValue, typed, type Message } from "./message";
import { natural } from "./names";
import { refine, route } from "./route";
import type { Column } from "./virtual";

export const stateTone: Record<string, string> = { active: "", locked: "warn", deferred: "violet", scheduled: "violet" };

const shownColumns = keptHere<string[]>("columns", ["enqueued", "id", "subject", "state", "session", "deliveries", "size", "body"]);

const ofProperty = "property:"; // before the name of an application property

// needProperties reports whether a shown column is that of an application property.
export const needProperties = () => shownColumns.value.some((c) => c.startsWith(ofProperty));

// optional are the columns that a table leaves out where all its messages have nothing in them.
const optional: Record<string, (m: Message) => boolean> = {
  subject: (m) => textOfValue(m.subject) !== "", session: (m) => textOfValue(m.sessionId) !== "", correlation: (m) => textOfValue(m.correlationId) !== "", expires: (m) => m.expiresAt !== undefined,
};

const description = (m: Message) => textOfValue(m.applicationProperties?.DeadLetterErrorDescription);

// When is the age of a message; of a scheduled one when it is due.
export function When({ m }: { m: Message }) {
  return m.state === "scheduled" ? <span class="violet-text">due <Time at={m.scheduledEnqueueTime} ageOnly="short" /></span> : <Time at={m.enqueuedTime} ageOnly="short" />;
}

interface Shown extends Column<Message> {
  by: (m: Message) => string | number; // to sort by
}

const instant = (at?: string) => (at ? Date.parse(at) : 0);

function all(dead: boolean, beside: boolean, digits: number, href: (m: Message) => string): Shown[] {
  const text = (of: (m: Message) => unknown, show = (s: string): Children => <Text>{s}</Text>) => {
    const by = (m: Message) => textOfValue(of(m));
    return { by, show: (m: Message) => by(m) && show(by(m)) };
  };
  const name = (s: string) => <Name>{s}</Name>;
  const columns: Shown[] = [
    { name: "number", title: "#", width: `${32 + 9 * digits}px`, by: (m) => m.sequenceNumber, show: (m) => <a href={href(m)}>{m.sequenceNumber}</a> },
    { name: "enqueued", yields: 4, title: "Enqueued", width: "112px", by: (m) => instant(m.state === "scheduled" ? m.scheduledEnqueueTime : m.enqueuedTime), show: (m) => <When m={m} /> },
    { name: "id", title: "Message id", width: beside ? "minmax(120px, 1fr)" : "minmax(150px, 1fr)", ...text((m) => m.messageId, name) },
    { name: "subject", yields: 3, title: "Subject", width: "minmax(84px, .6fr)", ...text((m) => m.subject) },
    { name: "state", yields: 1, title: "State", width: "100px", by: (m) => m.state ?? "", show: (m) => <Badge tone={stateTone[m.state ?? ""]} title={m.lockedBy}>{m.state}</Badge> },
    { name: "reason", title: "Reason", width: "minmax(150px, .8fr)", ...text((m) => m.deadLetterReason, name) },
    { name: "description", yields: 2, title: "Description", width: "minmax(280px, 2.6fr)", ...text(description) },
    { name: "session", yields: 5, title: "Session id", width: "minmax(84px, .5fr)", ...text((m) => m.sessionId, name) },
    { name: "correlation", yields: 9, title: "Correlation id", width: "minmax(104px, .6fr)", ...text((m) => m.correlationId, name) },
    { name: "expires", yields: 6, title: "Expires", width: "104px", by: (m) => instant(m.expiresAt), show: (m) => m.expiresAt && <Time at={m.expiresAt} ageOnly="short" /> },
    { name: "deliveries", yields: 7, title: "Deliveries", width: "92px", right: true, by: (m) => m.deliveryCount ?? 0, show: (m) => number(m.deliveryCount ?? 0) },
    { name: "size", yields: dead ? 11 : 8, title: "Size", width: "74px", right: true, by: (m) => m.sizeBytes ?? 0, show: (m) => <span class="faint">{bytes(m.sizeBytes ?? 0)}</span> },
    ...shownColumns.value.filter((c) => c.startsWith(ofProperty)).map((c): Shown => {
      const property = c.slice(ofProperty.length);
      const of = (m: Message) => m.applicationProperties?.[property];
      return { name: c, yields: 3, title: property, width: "minmax(92px, .6fr)", by: (m) => { const v = of(m), n = Number(textOfValue(v)); return v !== undefined && typed(v).type !== "string" && !Number.isNaN(n) ? n : textOfValue(v); }, show: (m) => of(m) !== undefined && <Text>{textOfValue(of(m))}</Text> };
    }),
    { name: "body", yields: dead ? 10 : 2, title: "Body", width: "minmax(90px, 1.6fr)", by: preview, show: (m) => <Text class="mono small">{preview(m)}</Text> },
  ];
  return columns.filter((c) => dead || !["reason", "description"].includes(c.name));
}

// sorted returns the messages in the order of the column that the address names; those without one as they are.
export function sorted(items: Message[], dead: boolean): Message[] {
  const { sort } = route.value.query, down = sort?.startsWith("-");
  const by = sort && all(dead, false, 1, () => "").find((c) => c.name === (down ? sort.slice(1) : sort))?.by;
  if (!by) return items;
  const compare = (a: string | number, b: string | number) => (typeof a === "number" && typeof b === "number" ? a - b : natural(String(a), String(b)));
  return items.map((m) => ({ m, key: by(m) })).sort((x, y) => (down ? -1 : 1) * compare(x.key, y.key)).map((x) => x.m);
}

// columns are those that are shown of these messages; without the body where the table stands beside an open one.
export function columns(items: Message[], dead: boolean, beside: boolean, digits: number, href: (m: Message) => string): Column<Message>[] {
  const { sort, order = "newest" } = route.value.query;
  const shown = (c: Shown) => {
    if (["number", "reason", "description"].includes(c.name)) return true;
    if (c.name === "state" && dead && items.every((m) => m.state === "active")) return false;
    if (c.name === "body" && beside) return false;
    return shownColumns.value.includes(c.name) && (!optional[c.name] || items.some(optional[c.name]!));
  };
  return all(dead, beside, digits, href).filter(shown).map((c) => {
    if (c.name === "number") { // in the order of which the server has them
      return { ...c, sort: sort ? "none" : order === "newest" ? "descending" : "ascending", onSort: () => refine({ sort: undefined, order: !sort && order === "newest" ? "oldest" : undefined }) };
    }
    return { ...c, sort: sort === c.name ? "ascending" : sort === "-" + c.name ? "descending" : "none", onSort: () => refine({ sort: sort === c.name ? "-" + c.name : sort === "-" + c.name ? undefined : c.name }) };
  });
}

const choices = [["enqueued", "Enqueued"], ["id", "Message id"], ["subject", "Subject"], ["state", "State"], ["session", "Session id"], ["correlation", "Correlation id"], ["expires", "Expires"], ["deliveries", "Deliveries"], ["size", "Size"], ["body", "Body"]] as const;

export function ColumnChoice({ entity }: { entity: string }) {
  const shown = shownColumns.value;
  const [names, setNames] = useState<string[]>([]), [name, setName] = useState("");
  const own = shown.filter((c) => c.startsWith(ofProperty)).map((c) => [c, c.slice(ofProperty.length)] as const);
  const look = async () => {
    const page = await list(route.value.namespace, entity, { order: "newest", limit: 50, body: 0, properties: true }).catch(() => undefined); // a name can be typed without
    setNames([...new Set(page?.items.flatMap((m) => Object.keys(m.applicationProperties ?? {})))].sort(natural));
  };
  const add = (e: Event) => {
    e.preventDefault();
    const column = ofProperty + name.trim();
    if (name.trim() && !shown.includes(column)) shownColumns.value = [...shown, column];
    setName("");
  };
  return (
    <Menu label="Columns" opened={look}>
      {[...choices, ...own].map(([c, title]) => (
        <label key={c} class="check"><input type="checkbox" checked={shown.includes(c)} onChange={() => (shownColumns.value = shown.includes(c) ? shown.filter((x) => x !== c) : [...shown, c])} /> <Text>{title}</Text></label>
      ))}
      <form class="bar" onSubmit={add}>
        <input list="property-names" aria-label="Add a property as a column" placeholder="Application property" value={name} spellcheck={false} onInput={(e) => setName(e.currentTarget.value)} />
        <datalist id="property-names">{names.map((n) => <option key={n} value={n} />)}</datalist>
        <Button small type="submit" disabled={!name.trim()}>Add</Button>
      </form>
    </Menu>
  );
}
