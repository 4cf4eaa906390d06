// The messages of an entity or a sub-queue as a table, and beside it the one that is chosen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { textOf } from "./api";
import { ask } from "./asking";
import { Export } from "./export";
import { placeOf } from "./findings";
import { number, plural, visible } from "./format";
import { purgeSome, resubmit } from "./joborders";
import { keptHere } from "./kept";
import { Badge, Button, Empty, Loading, Name, Problem, Text } from "./kit";
import { MessageView, type Beside } from "./messageview";
import { list, preview, remove, textOfValue, type Message } from "./message";
import { ColumnChoice, columns, needProperties, sorted, stateTone, When } from "./messagecolumns";
import { Applied, asked as askedOf, Filters, forJobs, narrowing } from "./messagefilters";
import { deadLetters } from "./names";
import { go, link, refine, route, withQuery } from "./route";
import { entityAt, refresh } from "./state";
import { tell } from "./toasts";
import { narrow, Table, type Column } from "./virtual";
import { descriptionOf } from "./whydead";

const pageSize = 100; // of the first page; further ones are larger
const mostRows = 50_000; // that are kept
const mostSelected = 1000; // that one request deletes or resubmits

// useMessages reads pages of messages: the first at once, further ones on demand.
function useMessages(namespace: string, entity: string, query: Record<string, string | boolean>) {
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

// useNews says how many messages have come since the counts were first known, or since they were last seen, and whether anything has changed.
function useNews(path: string, dead: boolean) {
  const e = entityAt.value.get(path.toLowerCase());
  const { active = 0, scheduled = 0, deferred = 0, deadLetter = 0 } = e?.counts ?? {};
  const now = e && { key: dead ? String(deadLetter) : [active, scheduled, deferred].join(), came: dead ? deadLetter : e.traffic.stored };
  const seen = useRef(now);
  seen.current ??= now;
  return {
    key: now?.key, changed: now !== undefined && now.key !== seen.current!.key, fresh: now ? Math.max(0, now.came - seen.current!.came) : 0,
    see: () => { seen.current = now; },
  };
}

// useStepKeys goes to the message before or after by k and j, and by the arrows where they do not scroll a text.
function useStepKeys({ before, after }: Beside, more?: () => void): void {
  useLayoutEffect(() => { // before the next key arrives
    const onKey = (e: KeyboardEvent) => {
      const target = e.target as Element;
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || target.closest?.("input,textarea,select,dialog,[data-editor],[role=separator]")) return;
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

const split = keptHere("split", 50); // percent of the width that the table has beside an open message
const least = 20, greatest = 80;

// Divider stands between the table and the message, and moves by the pointer or by keys.
function Divider() {
  const move = (percent: number) => (split.value = Math.round(Math.min(greatest, Math.max(least, percent))));
  const drag = (e: PointerEvent) => {
    const bar = e.currentTarget as HTMLElement;
    if (!bar.hasPointerCapture(e.pointerId)) return;
    const { left, width } = bar.parentElement!.getBoundingClientRect();
    move(((e.clientX - left) * 100) / width);
  };
  const onKey = (e: KeyboardEvent) => {
    const by = e.key === "ArrowLeft" ? -5 : e.key === "ArrowRight" ? 5 : 0;
    if (by) move(split.value + by);
  };
  return <div class="splitter" role="separator" tabIndex={0} aria-orientation="vertical" aria-label="Width of the table" aria-valuenow={split.value} aria-valuemin={least} aria-valuemax={greatest}
    onPointerDown={(e) => { e.currentTarget.setPointerCapture(e.pointerId); e.preventDefault(); }} onPointerMove={drag} onKeyDown={onKey} onDblClick={() => move(50)} />;
}

// SQLMistake shows a filter that cannot be read, with a mark at the place.
function SQLMistake({ text, sql }: { text: string; sql: string }) {
  const { line, column } = placeOf(text)!, lines = sql.split("\n"), at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + column;
  const word = /^\s*[\w.]+|^[^]?/.exec(sql.slice(at))![0] || " ";
  return (
    <div class="problem column" role="alert">
      <p>The SQL filter is not valid at column {column + 1}: <Text>{/Additional details= (?:syntax error, )?([^\]]*)/.exec(text)?.[1] ?? text}</Text></p>
      <code class="wrap">{visible(sql.slice(0, at))}<mark>{visible(word)}</mark>{visible(sql.slice(at + word.length))}</code>
    </div>
  );
}

function Brief({ m, dead, href, box }: { m: Message; dead: boolean; href: string; box: Column<Message> }) {
  return (
    <>
      {box.show(m)}
      <div class="brief-lines">
        <div><a href={href}>{m.sequenceNumber}</a> <Name>{textOfValue(m.messageId)}</Name><span class="push faint"><When m={m} /></span></div>
        <div>{dead ? <span class="dead-text"><Text>{m.deadLetterReason ?? ""}</Text></span> : m.state !== "active" && <Badge tone={stateTone[m.state ?? ""]}>{m.state}</Badge>} <Text class="faint">{[dead && descriptionOf(m), textOfValue(m.subject), preview(m)].filter(Boolean).join(" · ")}</Text></div>
      </div>
    </>
  );
}

// Messages is the tab of an entity's messages or dead letters.
export function Messages({ path, dead, chosen }: { path: string; dead: boolean; chosen?: string }) {
  const { namespace, query } = route.value;
  const entity = dead ? path + "/" + deadLetters : path, tab = dead ? "dead" : "messages";
  const filters = askedOf(query), narrowed = narrowing(filters), jobs = forJobs(filters);
  const m = useMessages(namespace, entity, { order: query.order ?? "newest", ...filters, ...(dead || needProperties() ? { properties: true } : {}) });
  const [selected, select] = useState<Set<number>>(new Set());
  const here = (seq: number | string) => withQuery(link("entity", path, tab, String(seq)), query);
  const close = withQuery(link("entity", path, tab), query);
  const c = entityAt.value.get(path.toLowerCase())?.counts, news = useNews(path, dead);
  const few = (m.items?.length ?? 0) <= pageSize;
  useEffect(() => { // what is on one page follows the counts
    if (news.changed && few && m.items && !document.hidden) {
      news.see();
      void m.reload();
    }
  }, [news.key]);
  const reload = () => {
    news.see();
    select(new Set());
    refresh();
    return m.reload();
  };
  const toggle = (seq: number) => {
    const next = new Set(selected);
    if (!next.delete(seq)) next.add(seq);
    select(next);
  };
  const items = useMemo(() => sorted(m.items ?? [], dead), [m.items, query.sort, dead]);
  const all = items.length > 0 && selected.size >= Math.min(items.length, mostSelected);
  const box: Column<Message> = {
    name: "Select", title: "", width: "30px",
    head: <label class="check"><input type="checkbox" aria-label="Select all shown" checked={all} ref={(e) => { if (e) e.indeterminate = selected.size > 0 && !all; }} onChange={() => select(all ? new Set() : new Set(items.slice(0, mostSelected).map((x) => x.sequenceNumber)))} />{narrow.value && " Select all"}</label>,
    show: (x) => <input type="checkbox" aria-label={`Select ${x.sequenceNumber}`} checked={selected.has(x.sequenceNumber)} onChange={() => toggle(x.sequenceNumber)} />,
  };
  const digits = String(items.reduce((n, x) => Math.max(n, x.sequenceNumber), 0)).length;
  const some = [...selected];
  const at = useMemo(() => items.findIndex((x) => String(x.sequenceNumber) === chosen), [items, chosen]);
  const beside = { before: at > 0 ? here(items[at - 1]!.sequenceNumber) : undefined, after: items[at + 1] ? here(items[at + 1]!.sequenceNumber) : undefined };
  const more = query.sort ? undefined : m.more; // rows of another order would come between those in sight
  useStepKeys(beside, at >= items.length - 2 ? more : undefined);
  const [exporting, exportThem] = useState(false);
  const deleteSome = () => ask({
    title: "Delete messages?", yes: `Delete ${plural(some.length, "message")}`, losing: "delete",
    text: <p>The {plural(some.length, "selected message")} of <b><Text>{entity}</Text></b> will be deleted, or none of them if a client has locked one.</p>,
    act: async () => { await remove(namespace, entity, some); tell(`${plural(some.length, "message")} deleted.`); await reload(); },
  });
  const noun = dead ? "dead letter" : "message", total = dead ? c?.deadLetter : (c?.active ?? 0) + (c?.scheduled ?? 0);
  const view = chosen && <MessageView key={chosen} path={path} dead={dead} sequence={chosen} close={close} changed={reload} beside={beside} />;
  return (
    <div class={`screen-full messages ${chosen ? "with-one" : ""}`}>
      <div class="bar">
        <Filters dead={dead} />
        {!narrow.value && <ColumnChoice entity={entity} />}
        <Button act={reload} kind={news.fresh > 0 && !few ? "primary" : "plain"}>{news.fresh > 0 && !few ? `Show ${number(news.fresh)} new` : "Refresh"}</Button>
      </div>
      <div class="bar tools">
        <span class="faint" role="status">{total === undefined || narrowed ? `${number(items.length)}${m.next ? "+" : ""} shown` : items.length >= total || (!m.next && !query.from) ? items.length > 0 && plural(items.length, noun) : `${number(items.length)} of ${number(total)} shown`}</span>
        {query.sort && m.next && <Button small act={m.more}>Load more to sort</Button>}
        <Applied dead={dead} />
        {some.length > 0 && dead && <Button small act={() => resubmit(entity, { sequenceNumbers: some }, some.length, reload)}>Resubmit {number(some.length)}</Button>}
        {some.length > 0 && <Button small kind="danger" act={deleteSome}>Delete {number(some.length)}</Button>}
        {items.length > 0 && <Button small act={() => exportThem(true)}>{some.length > 0 ? `Export ${number(some.length)}` : narrowed || query.from ? "Export matching" : "Export all"}</Button>}
        {some.length === 0 && narrowed && jobs && dead && items.length > 0 && <Button small act={() => resubmit(entity, jobs, undefined, reload)}>Resubmit matching</Button>}
        {some.length === 0 && narrowed && jobs && items.length > 0 && <Button small kind="danger" act={() => purgeSome(entity, jobs)}>Purge matching</Button>}
      </div>
      {m.full && m.next && <p class="notice" role="note">Only the first {number(mostRows)} messages are shown. Filter them, or <button type="button" class="link" onClick={() => refine({ from: m.next })}>continue from #{m.next}</button>.</p>}
      {exporting && <Export entity={entity} numbers={some} query={{ order: query.order ?? "newest", ...filters }} total={narrowed || query.from ? undefined : total} close={() => exportThem(false)} />}
      {m.error && (query.sql && placeOf(m.error) ? <SQLMistake text={m.error} sql={filters.sql!} /> : <Problem text={m.error} retry={m.reload} />)}
      {!m.items && !m.error && <Loading />}
      {m.items && items.length === 0 && (
        <Empty title={narrowed ? "No matching messages." : dead ? "No dead letters." : "No messages."}>
          {!narrowed && !dead && <p><a href={link("entity", path, "send")}>Send the first one</a></p>}
          {!narrowed && dead && <p>Messages appear here when a receiver dead-letters them, when they reach the max delivery count, or when they expire on an entity that dead-letters expired messages.</p>}
        </Empty>
      )}
      {items.length > 0 && (
        <div class="split" style={{ "--split": `${split.value}%` }}>
          <Table items={items} columns={[box, ...columns(items, dead, chosen !== undefined, digits, (x) => here(x.sequenceNumber))]} id={(x) => x.sequenceNumber} label="Messages" end={m.next ? more : undefined} at={at}
            open={(x) => go(here(x.sequenceNumber))} selected={(x) => String(x.sequenceNumber) === chosen || selected.has(x.sequenceNumber)} brief={(x) => <Brief m={x} dead={dead} href={here(x.sequenceNumber)} box={box} />} />
          {view && <Divider />}
          {view}
        </div>
      )}
      {items.length === 0 && m.items && view}
    </div>
  );
}
