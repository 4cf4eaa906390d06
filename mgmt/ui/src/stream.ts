// The live stream of events, read no faster than a person can look. When more happens, the reader skips to what happens now, and Minibus
// is spared to write the rest.
import { at, open, textOf, type Event } from "./api";

const pace = 250; // ms between two pieces
const lag = 4000; // ms behind the present after which the reader skips
const patience = 2000; // ms before it connects again

export interface Watcher {
  events: (list: Event[]) => void;
  skipped: () => void;
  connected: (gap: boolean) => void; // gap: events before this were not read
  failed: (text: string) => void;
  now: () => number; // what the clock of the namespace shows
}

interface Query {
  [name: string]: string | undefined;
}

const sleep = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
  const t = setTimeout(done, ms);
  signal.addEventListener("abort", () => { clearTimeout(t); done(); }, { once: true });
});

// watch reads the stream until it is ended. A page that is hidden reads nothing.
export function watch(namespace: string, query: Query, to: Watcher): () => void {
  const end = new AbortController();
  let reading: AbortController | undefined;
  let last = 0; // number of the last event
  const visible = () => {
    if (document.hidden) reading?.abort();
  };
  document.addEventListener("visibilitychange", visible);
  const run = async () => {
    while (!end.signal.aborted) {
      if (document.hidden) {
        await sleep(500, end.signal);
        continue;
      }
      reading = new AbortController();
      const abort = () => reading?.abort();
      end.signal.addEventListener("abort", abort, { once: true });
      try {
        const answer = await open("GET", at`${namespace}/events`, { query: { ...query, from: last ? String(last + 1) : undefined }, signal: reading.signal });
        to.connected(last === 0);
        if (await read(answer, reading.signal)) {
          to.skipped();
          last = 0;
          reading.abort();
          continue;
        }
      } catch (e) {
        if (!reading.signal.aborted) to.failed(textOf(e));
      }
      end.signal.removeEventListener("abort", abort);
      await sleep(document.hidden ? 0 : patience, end.signal);
    }
  };
  // read reports whether the reader has fallen behind.
  const read = async (answer: Response, signal: AbortSignal): Promise<boolean> => {
    const from = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    while (!signal.aborted) {
      const { value, done } = await from.read();
      if (done) return false;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      const list = blocks.flatMap(parse);
      if (list.length === 0) continue;
      const newest = list[list.length - 1]!;
      last = newest.number;
      to.events(list);
      if (to.now() - Date.parse(newest.time) > lag && list.length > 20) return true;
      await sleep(pace, signal);
    }
    return false;
  };
  const parse = (block: string): Event[] => {
    const lines = block.split("\n");
    const data = lines.find((l) => l.startsWith("data: "));
    if (!data) return [];
    if (lines.includes("event: missed")) {
      to.skipped();
      return [];
    }
    return [JSON.parse(data.slice(6)) as Event];
  };
  void run();
  return () => {
    end.abort();
    document.removeEventListener("visibilitychange", visible);
  };
}
