// The messages of an entity or a sub-queue as a table, and beside it the one that is chosen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { textOf } from "./api";
import { ask } from "./asking";
import { Search } from "./events";
import { Export } from "./export";
import { bytes, instantOf, number, plural } from "./format";
import { purgeSome, resubmit } from "./joborders";
import { keptHere } from "./kept";
import { Badge, Button, Empty, Loading, Problem, Text, Time } from "./kit";
import { MessageView, type Beside } from "./messageview";
import { list, preview, remove, textOfValue, type Message } from "./message";
import { deadLetters } from "./names";
import { go, link, refine, route, withQuery } from "./route";
import { entityAt, refresh } from "./state";
import { tell } from "./toasts";
import { Table, type Column } from "./virtual";

const pageSize = 100; // of the first page; further ones are larger
const mostRows = 50_000; // that are kept

export const stateTone: Record<string, string> = { active: "", locked: "warn", deferred: "violet", scheduled: "violet" };

const filters = ["state", "text", "reason", "sessionId", "sql", "dueAfter", "dueBefore"] as const;

// unread reports whether a filter of the address is for a time and has none. Such a filter is left out, and shown as wrong.
const unread = (filter: string, text: string) => filter.startsWith("due") && instantOf(text) === undefined;

// useMessages reads pages of messages: the first at once, further ones on demand.
function useMessages(namespace: string, entity: string, query: Record<string, string>) {
  const key = JSON.stringify([namespace, entity, query]);
  const [state, set] = useState<{ key: string; items?: Message[]; next?: string; error?: string }>({ key });
  const busy = useRef<AbortController>(undefined), asked = useRef({ namespace, entity, query, key });
  asked.current = { namespace, entity, query, key }; // by an act that began with another filter, too
  const load = async (cursor?: string, keep: Message[] = []) => {
    busy.current?.abort();
    const c = (busy.current = new AbortController()), { namespace, entity, query, key } = asked.current;
    try {
      let at = cursor, all = keep, examined = 0;
      do { // pages of a filter may be empty
        const page = await list(namespace, entity, { ...query, cursor: at, limit: cursor ? 1000 : pageSize, body: 160 }, c.signal);
        all = [...all, ...page.items];
        at = page.next;
        examined += page.examined;
      } while (at && all.length === keep.length && examined < (query.dueAfter ? 5_000_000 : 200_000)); // a time needs no content of messages
      set({ key, items: all, next: at });
    } catch (e) {
      if (!c.signal.aborted) set((old) => ({ ...(old.key === key ? old : { key }), error: textOf(e) }));
    }
    if (busy.current === c) busy.current = undefined;
  };
  useEffect(() => {
    void load();
    return () => busy.current?.abort();
  }, [key]);
  const { items, next, error } = state.key === key ? state : ({} as typeof state); // those of another filter are not shown
  const full = (items?.length ?? 0) >= mostRows;
  return { items, next, error, full, reload: () => load(), more: () => { if (next && !full && !busy.current) void load(next, items); } };
}

const shownColumns = keptHere<string[]>("columns", ["enqueued", "id", "subject", "state", "session", "deliveries", "size", "body"]);

// beside are the columns of the table that stands beside an open message.
const beside = ["number", "id", "subject", "body"];

// optional are the columns that a table leaves out where all its messages have nothing in them.
const optional: Record<string, (m: Message) => boolean> = {
  subject: (m) => textOfValue(m.subject) !== "", session: (m) => textOfValue(m.sessionId) !== "", correlation: (m) => textOfValue(m.correlationId) !== "", expires: (m) => m.expiresAt !== undefined,
};

function columns(items: Message[], dead: boolean, narrow: boolean, digits: number, href: (m: Message) => string): Column<Message>[] {
  const text = (of: (m: Message) => unknown) => (m: Message) => {
    const s = textOfValue(of(m));
    return s ? <Text>{s}</Text> : null;
  };
  const all: Column<Message>[] = [
    { name: "number", title: "#", width: `${20 + 9 * digits}px`, show: (m) => <a href={href(m)}>{m.sequenceNumber}</a> },
    { name: "enqueued", yields: 4, title: "Enqueued", width: "160px", show: (m) => <Time at={m.enqueuedTime} brief /> },
    { name: "id", title: "Message id", width: "minmax(90px, 1fr)", show: text((m) => m.messageId) },
    { name: "subject", yields: 3, title: "Subject", width: "minmax(76px, .6fr)", show: text((m) => m.subject) },
    ...(dead && !items.some((m) => m.state !== "active") ? [] : [{ name: "state", yields: 1, title: "State", width: "100px", show: (m: Message) => <Badge tone={stateTone[m.state ?? ""]} title={m.lockedBy}>{m.state}</Badge> }]),
    ...(dead ? [{ name: "reason", title: "Reason", width: "minmax(150px, 1.2fr)", show: (m: Message) => <Text>{m.deadLetterReason ?? ""}</Text> }] : []),
    { name: "session", yields: 5, title: "Session", width: "minmax(62px, .5fr)", show: text((m) => m.sessionId) },
    { name: "correlation", yields: 9, title: "Correlation", width: "minmax(90px, .6fr)", show: text((m) => m.correlationId) },
    { name: "expires", yields: 6, title: "Expires", width: "150px", show: (m) => (m.expiresAt ? <Time at={m.expiresAt} ageOnly /> : null) },
    { name: "deliveries", yields: 7, title: "Deliveries", width: "76px", right: true, show: (m) => number(m.deliveryCount ?? 0) },
    { name: "size", yields: 8, title: "Size", width: "70px", right: true, show: (m) => <span class="faint">{bytes(m.sizeBytes ?? 0)}</span> },
    { name: "body", yields: 2, title: "Body", width: "minmax(90px, 1.6fr)", show: (m) => <Text class="mono small">{preview(m)}</Text> },
  ];
  const seen = narrow ? all.filter((c) => [...beside, dead ? "reason" : "state"].includes(c.name)) : all;
  return seen.filter((c) => ["number", "reason"].includes(c.name) || (shownColumns.value.includes(c.name) && (!optional[c.name] || items.some(optional[c.name]!))));
}

const choices = ["enqueued", "id", "subject", "state", "session", "correlation", "expires", "deliveries", "size", "body"];

function ColumnChoice() {
  const shown = shownColumns.value;
  return (
    <details class="choice"><summary class="button">Columns</summary>
      <div class="choice-list">{choices.map((c) => (
        <label key={c} class="check"><input type="checkbox" checked={shown.includes(c)} onChange={() => (shownColumns.value = shown.includes(c) ? shown.filter((x) => x !== c) : [...shown, c])} /> {c}</label>
      ))}</div>
    </details>
  );
}

function Filters({ dead }: { dead: boolean }) {
  const q = route.value.query;
  return (
    <>
      <select aria-label="Order" value={q.order ?? "newest"} onChange={(e) => refine({ order: e.currentTarget.value === "newest" ? undefined : e.currentTarget.value })}>
        <option value="newest">Newest first</option><option value="oldest">Oldest first</option>
      </select>
      {!dead && <select aria-label="State" value={q.state ?? ""} onChange={(e) => refine({ state: e.currentTarget.value })}>
        <option value="">Every state</option>{["active", "locked", "deferred", "scheduled"].map((s) => <option key={s}>{s}</option>)}
      </select>}
      <input class="from" aria-label="Begin at number" placeholder="Begin at #" inputMode="numeric" value={q.from ?? ""} onChange={(e) => refine({ from: /^\d+$/.test(e.currentTarget.value) ? e.currentTarget.value : undefined })} />
      <Search label="Text in body or properties" value={q.text ?? ""} set={(text) => refine({ text })} />
      <Search label="SQL filter: amount > 100" value={q.sql ?? ""} set={(sql) => refine({ sql })} />
    </>
  );
}

const words: Record<string, string> = { dueAfter: "due from ", dueBefore: "due before ", from: "from #" };
const said = (filter: string) => words[filter] ?? filter + ": ";

function Applied() {
  const q = route.value.query, on = [...filters, "from" as const].filter((f) => q[f]);
  if (on.length === 0) return null;
  const wrong = (f: string) => (unread(f, q[f]!) ? " is no time such as 2026-11-22T10:00:00Z, and is left out" : "");
  return (
    <div class="chips" role="group" aria-label="Filters">
      {on.map((f) => <button key={f} type="button" class="chip" aria-label={`Remove the filter ${said(f)}${q[f]}${wrong(f)} ×`} onClick={() => refine({ [f]: undefined })}>{said(f)}{unread(f, q[f]!) ? <><Text>{q[f]!}</Text>{wrong(f)}</> : f.startsWith("due") ? <Time at={q[f]} brief /> : <Text>{q[f]!}</Text>} ×</button>)}
    </div>
  );
}

// useStepKeys goes to the message before or after by k and j, and by the arrows where they do not scroll a text.
function useStepKeys({ before, after }: Beside, more?: () => void): void {
  useLayoutEffect(() => { // before the next key arrives
    const onKey = (e: KeyboardEvent) => {
      const target = e.target as Element;
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || target.closest?.("input,textarea,select,dialog,[data-editor]")) return;
      const arrows = target === document.body || target.closest(".table-box") || target.id === "main";
      const next = e.key === "j" || (arrows && e.key === "ArrowDown"), previous = e.key === "k" || (arrows && e.key === "ArrowUp");
      if (!next && !previous) return;
      const to = next ? after : before;
      if (next && more) more();
      if (!to) return;
      e.preventDefault();
      go(to);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

// Messages is the tab of an entity's messages or dead letters.
export function Messages({ path, dead, chosen }: { path: string; dead: boolean; chosen?: string }) {
  const { namespace, query } = route.value;
  const entity = dead ? path + "/" + deadLetters : path, tab = dead ? "dead" : "messages";
  const asked: Record<string, string> = { order: query.order ?? "newest" };
  for (const f of [...filters, "from"]) if (query[f] && !unread(f, query[f])) asked[f] = query[f]!;
  const m = useMessages(namespace, entity, asked);
  const [selected, select] = useState<Set<number>>(new Set());
  const here = (seq: number | string) => withQuery(link("entity", path, tab, String(seq)), query);
  const c = entityAt.value.get(path.toLowerCase())?.counts;
  const counts = JSON.stringify(c), seen = useRef(counts);
  const few = (m.items?.length ?? 0) <= pageSize;
  const stale = seen.current !== counts;
  useEffect(() => { // what is on one page follows the counts
    if (stale && few && m.items && !document.hidden) {
      seen.current = counts;
      void m.reload();
    }
  }, [counts]);
  const reload = () => {
    seen.current = counts;
    select(new Set());
    refresh();
    return m.reload();
  };
  const toggle = (seq: number) => {
    const next = new Set(selected);
    if (!next.delete(seq)) next.add(seq);
    select(next);
  };
  const items = m.items ?? [];
  const box: Column<Message> = { name: "box", title: "", width: "30px", show: (x) => <input type="checkbox" aria-label={`Select ${x.sequenceNumber}`} checked={selected.has(x.sequenceNumber)} onChange={() => toggle(x.sequenceNumber)} /> };
  const digits = String(items.reduce((n, x) => Math.max(n, x.sequenceNumber), 0)).length;
  const some = [...selected];
  const at = useMemo(() => items.findIndex((x) => String(x.sequenceNumber) === chosen), [items, chosen]);
  const beside = { before: at > 0 ? here(items[at - 1]!.sequenceNumber) : undefined, after: items[at + 1] ? here(items[at + 1]!.sequenceNumber) : undefined };
  useStepKeys(beside, at >= items.length - 2 ? m.more : undefined);
  const [exporting, exportThem] = useState(false);
  const removeSome = () => ask({
    title: "Remove messages?", yes: `Remove ${plural(some.length, "message")}`, losing: "removing", text: <p>The selected {plural(some.length, "message")} of <b><Text>{entity}</Text></b> are removed, or none if a client has locked one.</p>,
    act: async () => { await remove(namespace, entity, some); tell(`${plural(some.length, "message")} removed.`); await reload(); },
  });
  const filter = { text: query.text, sql: query.sql, reason: query.reason === "$empty" ? "" : query.reason, sessionId: query.sessionId === "$empty" ? "" : query.sessionId };
  const narrowed = filters.some((f) => asked[f]);
  const total = dead ? c?.deadLetter : (c?.active ?? 0) + (c?.scheduled ?? 0);
  return (
    <div class={`screen-full messages ${chosen ? "with-one" : ""}`}>
      <div class="bar">
        <Filters dead={dead} />
        <ColumnChoice />
        <Button act={reload} kind={stale && !few ? "primary" : "plain"}>{stale && !few ? "Show what is new" : "Refresh"}</Button>
      </div>
      <Applied />
      <div class="bar">
        <span class="faint" role="status">{number(items.length)}{m.next ? "+" : ""} shown{total !== undefined && !narrowed && ` of ${number(total)}`}</span>
        {items.length > 0 && <Button small act={() => select(selected.size === items.length ? new Set() : new Set(items.slice(0, 1000).map((x) => x.sequenceNumber)))}>{selected.size === items.length ? "Select none" : "Select all shown"}</Button>}
        {some.length > 0 && <Button small kind="danger" act={removeSome}>Remove {number(some.length)}</Button>}
        {some.length > 0 && dead && <Button small act={() => resubmit(entity, { sequenceNumbers: some }, some.length, reload)}>Resubmit {number(some.length)}</Button>}
        {items.length > 0 && <Button small act={() => exportThem(true)}>{some.length > 0 ? `Export ${number(some.length)}` : narrowed || query.from ? "Export all that fit" : "Export all"}</Button>}
        {some.length === 0 && narrowed && !query.state && !asked.dueAfter && !asked.dueBefore && !query.from && items.length > 0 && <Button small kind="danger" act={() => purgeSome(entity, filter)}>Remove all that fit</Button>}
        {some.length === 0 && narrowed && dead && !query.from && items.length > 0 && <Button small act={() => resubmit(entity, filter, undefined, reload)}>Resubmit all that fit</Button>}
      </div>
      {m.full && m.next && <p class="notice" role="note">The first {number(mostRows)} are shown. Filter them, or <button type="button" class="link" onClick={() => refine({ from: m.next })}>go on from #{m.next}</button>.</p>}
      {exporting && <Export entity={entity} numbers={some} query={asked} total={narrowed || query.from ? undefined : total} close={() => exportThem(false)} />}
      {m.error && <Problem text={m.error} retry={m.reload} />}
      {!m.items && !m.error && <Loading />}
      {m.items && items.length === 0 && (
        <Empty title={narrowed ? "No message fits." : dead ? "No dead letters." : "No messages."}>
          {!narrowed && !dead && <p><a href={link("entity", path, "send")}>Send the first one</a></p>}
          {!narrowed && dead && <p>A message comes here when a receiver dead-letters it, or when it was delivered too often.</p>}
        </Empty>
      )}
      {items.length > 0 && (
        <div class="split">
          <Table items={items} columns={[box, ...columns(items, dead, chosen !== undefined, digits, (x) => here(x.sequenceNumber))]} id={(x) => x.sequenceNumber} label="Messages" end={m.next ? m.more : undefined} at={at}
            open={(x) => go(here(x.sequenceNumber))} selected={(x) => String(x.sequenceNumber) === chosen || selected.has(x.sequenceNumber)} />
          {chosen && <MessageView key={chosen} path={path} dead={dead} sequence={chosen} close={withQuery(link("entity", path, tab), query)} changed={reload} beside={beside} />}
        </div>
      )}
      {items.length === 0 && chosen && m.items && <MessageView path={path} dead={dead} sequence={chosen} close={withQuery(link("entity", path, tab), query)} changed={reload} />}
    </div>
  );
}
