// Sending many messages: in batches, at a rate, and with a way to stop.
import { textOf } from "./api";
import { number } from "./format";
import { sendLines } from "./message";

export const mostAtOnce = 1000; // messages that one request sends, all or none
const mostText = 16 << 20; // characters of a request with more than one message
const beat = 100; // ms between the batches of a rate, at least

export interface Sent {
  done: number;
  first?: number; // sequence numbers
  last?: number;
}

const wait = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
  const t = setTimeout(done, ms);
  signal.addEventListener("abort", () => { clearTimeout(t); done(); }, { once: true });
});

// repeat sends what make makes of the numbers from 1 to count. A rate is in messages per second; 0: as fast as they are taken. What is sent when it
// is stopped or fails stays sent.
export async function repeat(namespace: string, entity: string, count: number, rate: number, make: (n: number) => object, signal: AbortSignal, progress: (s: Sent) => void): Promise<Sent> {
  const sent: Sent = { done: 0 }, began = performance.now();
  while (sent.done < count && !signal.aborted) {
    let due = Math.min(count - sent.done, mostAtOnce);
    if (rate > 0) {
      due = Math.min(due, Math.floor(((performance.now() - began) * rate) / 1000) + 1 - sent.done);
      if (due < 1) {
        await wait(Math.max(beat, 1000 / rate / 4), signal);
        continue;
      }
    }
    const lines: string[] = [];
    for (let size = 0; lines.length < due && (size < mostText || lines.length === 0); size += lines[lines.length - 1]!.length) lines.push(JSON.stringify(make(sent.done + lines.length + 1)));
    try {
      const answer = await sendLines(namespace, entity, lines);
      sent.first ??= answer.sequenceNumbers[0];
      sent.last = answer.sequenceNumbers[lines.length - 1];
    } catch (e) {
      throw sent.done > 0 ? new Error(`${textOf(e)} ${number(sent.done)} messages were sent before.`) : e;
    }
    sent.done += lines.length;
    progress({ ...sent });
    if (rate > 0) await wait(beat, signal);
  }
  return sent;
}

// linesOf reads a file line by line.
async function* linesOf(file: Blob): AsyncGenerator<string> {
  const from = file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await from.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest !== "") yield rest;
}

function checkLine(line: string, at: number): void {
  let m: unknown;
  try {
    m = JSON.parse(line);
  } catch (e) {
    throw new Error(`Line ${number(at)} is not JSON: ${textOf(e)}`);
  }
  if (typeof m !== "object" || m === null || Array.isArray(m)) throw new Error(`Line ${number(at)} is not a message: each line is an object such as {"body":"hello"}.`);
}

// sendFile sends a file of JSON lines, each a message.
export async function sendFile(namespace: string, entity: string, file: File, signal: AbortSignal, progress: (s: Sent, read: number) => void): Promise<Sent> {
  const sent: Sent = { done: 0 };
  let lines: string[] = [], places: number[] = [], size = 0, at = 0, read = 0;
  const flush = async () => {
    if (lines.length === 0 || signal.aborted) return;
    try {
      const answer = await sendLines(namespace, entity, lines);
      sent.first ??= answer.sequenceNumbers[0];
      sent.last = answer.sequenceNumbers[lines.length - 1];
    } catch (e) {
      const which = /message (\d+): ([^\n]*)/.exec(textOf(e)); // of the batch
      throw new Error(which ? `Line ${number(places[Number(which[1]) - 1] ?? places[0]!)}: ${which[2]}` : `Lines ${number(places[0]!)} to ${number(places[places.length - 1]!)}: ${textOf(e)}`);
    }
    sent.done += lines.length;
    progress({ ...sent }, read);
    lines = [];
    places = [];
    size = 0;
  };
  try {
    for await (const text of linesOf(file)) {
      if (signal.aborted) return sent;
      at++;
      read += text.length + 1;
      const line = text.replace(/^\ufeff/, "").trim();
      if (line === "") continue;
      checkLine(line, at);
      if (lines.length === mostAtOnce || (lines.length > 0 && size + line.length > mostText)) await flush();
      lines.push(line);
      places.push(at);
      size += line.length;
    }
    await flush();
  } catch (e) {
    const text = e instanceof TypeError ? "The file is not UTF-8 text." : textOf(e);
    throw new Error(sent.done > 0 ? `${text} The ${number(sent.done)} messages before it were sent.` : text + " Nothing was sent.");
  }
  if (at === 0 || sent.done === 0) if (!signal.aborted) throw new Error("The file has no messages: each line is one, such as {\"body\":\"hello\"}.");
  return sent;
}
