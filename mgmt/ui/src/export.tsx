// Messages as a file of JSON lines, which minibus send --jsonl and the screen Send take again, or as a seed, which minibus --seed sends at its start.
import { useEffect, useState } from "preact/hooks";
import { Failure, open, textOf } from "./api";
import { bytes, number, plural } from "./format";
import { Button, Dialog, Problem, Text } from "./kit";
import { bodyPath, list, read, type Message } from "./message";
import { deadLetters, shown } from "./names";
import { route } from "./route";
import { save } from "./save";
import { tell } from "./toasts";

const atOnce = 4; // messages that are asked for at the same time
const inPage = 4096; // bytes of a body that a page of messages has
const inOne = 1 << 20; // bytes of a body that one message has

function base64(data: Uint8Array): string {
  let text = "";
  for (let i = 0; i < data.length; i += 32_768) text += String.fromCharCode(...data.subarray(i, i + 32_768));
  return btoa(text);
}

// whole returns a message with all of its body; undefined if it is gone. It throws if the body can't be had as JSON.
async function whole(namespace: string, entity: string, sequence: number, signal: AbortSignal): Promise<Message | undefined> {
  let m: Message;
  try {
    m = await read(namespace, entity, sequence, signal, inOne);
    if (!m.bodyCut) return m;
    if (m.body === undefined && m.bodyBase64 === undefined) throw new Error(`#${sequence} has a large body that is no data`);
    const data = await (await open("GET", bodyPath(namespace, entity, sequence), { signal })).blob();
    const { bodyCut: _, ...rest } = m;
    if (m.body === undefined) return { ...rest, bodyBase64: base64(new Uint8Array(await data.arrayBuffer())) };
    const bytes = await data.arrayBuffer();
    try {
      return { ...rest, body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch { // it begins as a text only
      const { body: __, ...other } = rest;
      return { ...other, bodyBase64: base64(new Uint8Array(bytes)) };
    }
  } catch (e) {
    if (e instanceof Failure && e.status === 404) return undefined;
    throw e;
  }
}

interface Progress {
  done: number;
  size: number;
  gone: number;
  left: string[]; // those that can't be exported
}

const ofService = new Set(["sequenceNumber", "enqueuedSequenceNumber", "state", "enqueuedTime", "expiresAt", "lockedUntil", "lockedBy", "deliveryCount", "deadLetterReason", "deadLetterSource", "sizeBytes", "bodyBytes"]);

// seedLine is a message with its entity, without what only the service sets. What looks like a placeholder is a text.
const seedLine = (entity: string, m: Message) => JSON.stringify({ entity, ...m, ...(m.timeToLive && m.absoluteExpiryTime && { creationTime: undefined, absoluteExpiryTime: undefined }) }, (k, v: unknown) => (ofService.has(k) ? undefined : typeof v === "string" ? v.replaceAll("{{", "\\{{") : v));

// collect reads the messages page by page, or by their numbers, and returns the lines as pieces of a file.
async function collect(namespace: string, entity: string, numbers: number[], query: Record<string, string>, signal: AbortSignal, progress: (p: Progress) => void, line: (m: Message) => string, p: Progress): Promise<Blob[]> {
  const pieces: Blob[] = [];
  const add = async (page: (Message | number)[]) => {
    for (let i = 0; i < page.length; i += atOnce) {
      const some = await Promise.all(page.slice(i, i + atOnce).map(async (x) => {
        if (typeof x !== "number" && !x.bodyCut) return x;
        const n = typeof x === "number" ? x : x.sequenceNumber;
        try {
          return await whole(namespace, entity, n, signal);
        } catch (e) {
          if (signal.aborted || e instanceof Failure) throw e;
          p.left.push(textOf(e));
          return null;
        }
      }));
      const piece = new Blob(some.flatMap((m) => (m ? [line(m), "\n"] : [])));
      pieces.push(piece);
      p.size += piece.size;
      p.done += some.filter(Boolean).length;
      p.gone += some.filter((m) => m === undefined).length;
      progress({ ...p });
    }
  };
  if (numbers.length > 0) {
    await add(numbers);
    return pieces;
  }
  let cursor: string | undefined;
  do {
    const page = await list(namespace, entity, { ...query, order: query.order, cursor, limit: 500, body: inPage, properties: true }, signal);
    await add(page.items);
    cursor = page.next;
  } while (cursor);
  return pieces;
}

// Export reads messages, those with the numbers or, without any, all that fit the query, and gives them to the reader as a file. As a seed, those of the dead-letter queue are with them.
export function Export({ entity, numbers, query, total, seed, close }: { entity: string; numbers: number[]; query: Record<string, string>; total?: number; seed?: boolean; close: () => void }) {
  const [p, set] = useState<Progress>({ done: 0, size: 0, gone: 0, left: [] }), [wrong, setWrong] = useState(""), [over, end] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    let last: Progress = p;
    const sum = p, all = async () => {
      const pieces: Blob[] = [];
      for (const e of seed ? [entity, `${entity}/${deadLetters}`] : [entity]) {
        pieces.push(...await collect(route.value.namespace, e, numbers, query, stop.signal, (now) => set((last = now)), seed ? (m) => seedLine(e, m) : JSON.stringify, sum));
      }
      return pieces;
    };
    all().then((pieces) => {
      if (stop.signal.aborted) return;
      const name = entity.replace("/" + deadLetters, "-dead-letters").replace(/[^\w.-]+/g, "-") + ".jsonl";
      if (last.done > 0) save(new Blob(pieces, { type: "application/x-ndjson" }), name);
      if (last.left.length + last.gone > 0 || last.done === 0) return end(true);
      tell(seed ? `Saved ${plural(last.done, "message")} as ${name}. Start with minibus --seed ${name} to have them again.` : `Exported ${plural(last.done, "message")} to ${name}.`);
      close();
    }, (e) => {
      if (!stop.signal.aborted) setWrong(textOf(e));
    });
    return () => stop.abort();
  }, []);
  const of = numbers.length || total;
  return (
    <Dialog title={seed ? "Save as seed" : "Export messages"} close={close}>
      <div class="dialog-body">
        <p>Messages of <b><Text>{shown(entity)}</Text></b> as JSON lines{seed && <>, for <code>minibus --seed</code></>}. Nothing is locked or deleted.</p>
        <progress class="job-progress" max={of ?? 1} value={of ? p.done : undefined} aria-label="Messages exported" />
        <p role="status">{number(p.done)}{of ? ` of ${number(of)}` : ""} · {bytes(p.size)}</p>
        {over && p.gone > 0 && <p>{plural(p.gone, "message was", "messages were")} no longer there.</p>}
        {over && p.done + p.gone + p.left.length === 0 && <p>There are no messages to export.</p>}
        {p.left.length > 0 && <Problem text={`Left out: ${p.left.slice(0, 10).join("; ")}.`} />}
        {wrong && <Problem text={wrong} />}
      </div>
      <footer><Button act={close}>{over || wrong ? "Close" : "Cancel"}</Button></footer>
    </Dialog>
  );
}
