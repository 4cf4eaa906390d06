// What happens to messages, as it happens.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, get, textOf, type Event, type Query, type Schemas } from "./api";
import { entityOf, EventTable, kinds, wordsOf } from "./eventtable";
import { number, plural } from "./format";
import { Button, Empty, Problem } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { refine, route } from "./route";
import { entities, now } from "./state";
import { watch } from "./stream";

const most = 2000; // events that the page keeps

interface Filter {
  [name: string]: string | undefined;
}

// useEvents follows the events that match, the newest first, unless it is off. It begins with the last ones that Minibus remembers.
export function useEvents(namespace: string, filter: Filter, paused: boolean, off = false) {
  const [events, set] = useState<Event[]>([]), [state, setState] = useState(""), [skips, setSkips] = useState(0), [loaded, setLoaded] = useState(false), [more, setMore] = useState(0);
  const stop = useRef(paused), waiting = useRef<Event[]>([]);
  stop.current = paused;
  const key = JSON.stringify([namespace, filter, off]);
  const add = (list: Event[]) => set((old) => {
    const last = old[0]?.number ?? 0;
    return [...list.filter((e) => e.number > last).reverse(), ...old].slice(0, most);
  });
  useEffect(() => {
    let ended = false;
    waiting.current = [];
    set([]);
    setState("");
    setLoaded(false);
    setMore(0);
    if (off) return;
    const fill = async () => { // while the stream runs, so that nothing falls between the two
      const { items } = await get<Schemas["HistoryPage"]>(at`${namespace}/history`, { ...filter, order: "newest", limit: 200 });
      if (!ended) set((old) => [...new Map([...items, ...old].map((e) => [e.number, e])).values()].sort((a, b) => b.number - a.number).slice(0, most));
    };
    const end = watch(namespace, filter, {
      events: (list) => {
        waiting.current.push(...list);
        if (waiting.current.length > most) waiting.current.splice(0, waiting.current.length - most);
        if (!stop.current) add(waiting.current.splice(0));
        setMore(waiting.current.length);
      },
      connected: (gap) => {
        if (ended) return;
        setState("");
        if (gap) void fill().catch((e) => !ended && setState(textOf(e))).finally(() => !ended && setLoaded(true));
      },
      failed: (text) => !ended && setState(text),
      skipped: () => setSkips((n) => n + 1), now: () => now.value,
    });
    return () => {
      ended = true;
      end();
    };
  }, [key]);
  useEffect(() => {
    if (paused) return;
    add(waiting.current.splice(0));
    setMore(0);
  }, [paused]);
  return { events, state, skips, loaded, more };
}

type Page = Schemas["HistoryPage"];

const mostLives = 8; // of messages that share a correlation id

// lifeOfText returns all events of the messages that a text names: by message id, as entity#number, or by correlation id.
export async function lifeOfText(namespace: string, text: string, signal: AbortSignal): Promise<Event[]> {
  const life = async (query: Query) => (await get<Page>(at`${namespace}/history/life`, query, signal)).items;
  const own = await life({ messageId: text });
  if (own.length > 0) return own;
  const { items } = await get<Schemas["Lookup"]>(at`${namespace}/lookup`, { text }, signal);
  const lives = await Promise.all(items.slice(0, mostLives).map((m) => life({ entity: m.entity, sequenceNumber: m.sequenceNumber })));
  return [...new Map(lives.flat().map((e) => [e.number, e])).values()].sort((a, b) => a.number - b.number);
}

// useLife follows the events of one message, the newest first. The stream has the id in the first of them only.
function useLife(namespace: string, text: string, chosen: Filter, paused: boolean) {
  const p = usePoll(JSON.stringify([namespace, text]), paused ? 3_600_000 : 2000, (signal) => (text ? lifeOfText(namespace, text, signal) : Promise.resolve([])));
  const entity = chosen.entity?.toLowerCase(), client = chosen.client?.toLowerCase(), kinds = (chosen.kind ?? "").split(",").filter(Boolean);
  const has = (e: Event) => (!entity || e.entity.toLowerCase() === entity || entityOf(e).toLowerCase() === entity) && (kinds.length === 0 || kinds.includes(e.kind)) &&
    (!client || [e.client?.connection, e.client?.container, e.client?.remote].some((c) => c?.toLowerCase() === client));
  return { events: (p.value ?? []).filter(has).reverse(), state: p.error ?? "", loaded: p.value !== undefined };
}

function Chips({ chosen, set }: { chosen: string[]; set: (list: string[]) => void }) {
  return (
    <details class="kinds" open={chosen.length > 0}>
      <summary>Kinds: {chosen.length ? chosen.map(wordsOf).join(", ") : "all"}</summary>
      <div class="chips" role="group" aria-label="Kinds of events">
        {kinds.map((k) => (
          <button key={k} type="button" class="chip" aria-pressed={chosen.includes(k)} onClick={() => set(chosen.includes(k) ? chosen.filter((c) => c !== k) : [...chosen, k])}>{wordsOf(k)}</button>
        ))}
        {chosen.length > 0 && <button type="button" class="chip" onClick={() => set([])}>All kinds</button>}
      </div>
    </details>
  );
}

// Search is a field whose text counts when the reader pauses.
export function Search({ label, value, set, list, hint = label }: { label: string; value: string; set: (s: string) => void; list?: string; hint?: string }) {
  const input = useRef<HTMLInputElement>(null), timer = useRef<ReturnType<typeof setTimeout>>(undefined), told = useRef(value);
  useLayoutEffect(() => { // a value from elsewhere: a chip, or back
    if (value !== told.current && input.current) input.current.value = value;
    told.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []); // what is left half typed is for no other screen
  const tell = (text: string) => {
    told.current = text;
    set(text);
  };
  return <input ref={input} type="search" aria-label={label} placeholder={hint} defaultValue={value} list={list} spellcheck={false}
    onInput={(e) => { const v = e.currentTarget.value.trim(); clearTimeout(timer.current); timer.current = setTimeout(tell, 300, v); }} />;
}

// Standing says whether what happens now is shown.
export function Standing({ state, loaded, paused }: { state: string; loaded: boolean; paused: boolean }) {
  return <span class={`live ${paused || state || !loaded ? "" : "on"}`} role="status">{state ? "not connected" : paused ? "paused" : loaded ? "live" : "connecting…"}</span>;
}

export function Events() {
  const { namespace, query } = route.value;
  const [paused, pause] = useState(false);
  const chosen = (query.kind ?? "").split(",").filter(Boolean), id = query.messageId ?? "";
  const filter = { entity: query.entity, kind: query.kind, client: query.client };
  const stream = useEvents(namespace, filter, paused, id !== ""), life = useLife(namespace, id, filter, paused);
  const { events, state, loaded } = id ? life : stream, { skips, more } = stream;
  const filtered = Object.values(filter).some(Boolean);
  return (
    <div class="screen-full">
      <h1>Live events</h1>
      <div class="bar">
        <Search label="Entity" value={query.entity ?? ""} set={(entity) => refine({ entity })} list="entity-names" />
        <datalist id="entity-names">{(entities.value ?? []).slice(0, 500).map((e) => <option key={e.path} value={e.path}>{shown(e.path)}</option>)}</datalist>
        <Search label="Message id" hint="Message id, orders#7, correlation id" value={id} set={(messageId) => refine({ messageId })} />
        <Search label="Client" value={query.client ?? ""} set={(client) => refine({ client })} />
        <Button act={() => pause(!paused)}>{paused ? "Resume" : "Pause"}</Button>
        <Standing state={state} loaded={loaded} paused={paused} /><span class="faint">{plural(events.length, "event")}{!id && more > 0 && `, ${number(more)} more since the pause`}</span>
      </div>
      <Chips chosen={chosen} set={(list) => refine({ kind: list.join(",") })} />
      {state && <Problem text={state} />}
      {!id && skips > 0 && <p class="hint">Too many events to show: some were skipped. Narrow them with a filter, or look in the history, which keeps all of them.</p>}
      {events.length > 0 ? <EventTable events={events} label="Events, the newest first" /> : loaded && !state && (
        id ? <Empty title="No events for this message."><p>Type a message id, <code>orders#7</code> or a correlation id. Minibus forgets the oldest events first.</p></Empty>
          : <Empty title={filtered ? "No event matches." : "No events yet."}><p>Send or receive a message: each step appears here at once.</p></Empty>
      )}
    </div>
  );
}
