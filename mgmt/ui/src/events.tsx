// What happens to messages, as it happens.
import { useEffect, useRef, useState } from "preact/hooks";
import { at, get, type Event, type Schemas } from "./api";
import { EventTable, kinds, wordsOf } from "./eventtable";
import { plural } from "./format";
import { Button, Empty, Problem } from "./kit";
import { shown } from "./names";
import { refine, route } from "./route";
import { entities, now } from "./state";
import { watch } from "./stream";

const most = 2000; // events that the page keeps

interface Filter {
  [name: string]: string | undefined;
}

// useEvents follows the events that fit, the newest first. It begins with the last ones that Minibus remembers.
export function useEvents(namespace: string, filter: Filter, paused: boolean) {
  const [events, set] = useState<Event[]>([]), [state, setState] = useState(""), [skips, setSkips] = useState(0), [loaded, setLoaded] = useState(false);
  const stop = useRef(paused);
  stop.current = paused;
  const key = JSON.stringify([namespace, filter]);
  useEffect(() => {
    const waiting: Event[] = [];
    let ended = false;
    set([]);
    setLoaded(false);
    const add = (list: Event[]) => set((old) => {
      const last = old[0]?.number ?? 0;
      return [...list.filter((e) => e.number > last).reverse(), ...old].slice(0, most);
    });
    const begin = async () => {
      try {
        const page = await get<Schemas["HistoryPage"]>(at`${namespace}/history`, { ...filter, order: "newest", limit: 200 });
        if (!ended) add([...page.items].reverse());
      } catch {
        // the stream says what is wrong
      }
      if (!ended) setLoaded(true);
    };
    void begin();
    const end = watch(namespace, filter, {
      events: (list) => {
        waiting.push(...list);
        if (waiting.length > most) waiting.splice(0, waiting.length - most);
        if (!stop.current) add(waiting.splice(0));
      },
      skipped: () => setSkips((n) => n + 1), state: setState, now: () => now.value,
    });
    return () => {
      ended = true;
      end();
    };
  }, [key]);
  return { events, state, skips, loaded };
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
export function Search({ label, value, set, list }: { label: string; value: string; set: (s: string) => void; list?: string }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return <input type="search" aria-label={label} placeholder={label} defaultValue={value} list={list} spellcheck={false}
    onInput={(e) => { const v = e.currentTarget.value.trim(); clearTimeout(timer.current); timer.current = setTimeout(() => set(v), 300); }} />;
}

export function Events() {
  const { namespace, query } = route.value;
  const [paused, pause] = useState(false);
  const chosen = (query.kind ?? "").split(",").filter(Boolean);
  const filter = { entity: query.entity, kind: query.kind, messageId: query.messageId, client: query.client };
  const { events, state, skips, loaded } = useEvents(namespace, filter, paused);
  const filtered = Object.values(filter).some(Boolean);
  return (
    <div class="screen-full">
      <h1>Live events</h1>
      <div class="bar">
        <Search label="Entity" value={query.entity ?? ""} set={(entity) => refine({ entity })} list="entity-names" />
        <datalist id="entity-names">{(entities.value ?? []).slice(0, 500).map((e) => <option key={e.path} value={e.path}>{shown(e.path)}</option>)}</datalist>
        <Search label="Message id" value={query.messageId ?? ""} set={(messageId) => refine({ messageId })} />
        <Search label="Client" value={query.client ?? ""} set={(client) => refine({ client })} />
        <Button act={() => pause(!paused)}>{paused ? "Go on" : "Pause"}</Button>
        <span class={`live ${paused || state ? "" : "on"}`} role="status">{state ? "not connected" : paused ? "paused" : "live"} · {plural(events.length, "event")}</span>
      </div>
      <Chips chosen={chosen} set={(list) => refine({ kind: list.join(",") })} />
      {state && <Problem text={state} />}
      {skips > 0 && <p class="hint">More happens than can be shown, so some events were left out here. A filter shows all that fit; the history keeps the rest.</p>}
      {events.length > 0 ? <EventTable events={events} label="Events, the newest first" /> : loaded && !state && (
        <Empty title={filtered ? "Nothing that fits has happened yet." : "Nothing has happened yet."}>
          <p>Send or receive a message: each step appears here at once.</p>
        </Empty>
      )}
    </div>
  );
}
