// Sending: every property of a message, from nothing, from a file, from a template, or from a message that there is; once or many times, now or later.
import { useEffect, useRef, useState } from "preact/hooks";
import { at as path_, get, textOf } from "./api";
import { draftOf, fields, filled, fresh, messageOf, timeIn, type Draft } from "./draft";
import { msOf } from "./durations";
import { number, plural, zone } from "./format";
import { formatted } from "./json";
import { Button, Field, Loading, Panel, Problem, Text } from "./kit";
import { letterOf, Mending, sourceOf } from "./mending";
import { shown } from "./names";
import { Properties } from "./properties";
import { link, refine, route } from "./route";
import { repeat, sendFile, type Sent } from "./sending";
import { isoSpan, SpanField, spanHint } from "./spanfield";
import { refresh, type Clock } from "./state";
import { Templates, templateNamed } from "./templates";
import { looksLikeJSON, TextEdit } from "./textedit";
import { tell } from "./toasts";

const mostMessages = 1_000_000;

async function base64(file: File): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < data.length; i += 32_768) text += String.fromCharCode(...data.subarray(i, i + 32_768));
  return btoa(text);
}

function BodyField({ d, set }: { d: Draft; set: (d: Partial<Draft>) => void }) {
  const file = async (f?: File) => {
    if (f) set({ bytes: await base64(f), other: undefined, fields: { ...d.fields, contentType: d.fields.contentType || f.type } });
  };
  if (d.other) return <p class="hint">The body is an {Object.keys(d.other)[0] === "bodyValue" ? "AMQP value" : "AMQP sequence"} or of several sections. It is sent as it is. <Button small act={() => set({ other: undefined })}>Write another body</Button></p>;
  if (d.bytes !== undefined) return <p class="hint">The body is of {number(Math.floor((d.bytes.length * 3) / 4))} bytes. <Button small act={() => set({ bytes: undefined })}>Write a text instead</Button></p>;
  const json = /json/i.test(d.fields.contentType ?? "") || (!d.fields.contentType && looksLikeJSON(d.body));
  const format = () => set({ body: formatted(d.body) ?? d.body, fields: { ...d.fields, contentType: d.fields.contentType || "application/json" } });
  return (
    <>
      <TextEdit label="Body" text={d.body} set={(body) => set({ body })} json={json} hint={'{"id": 7}'} />
      <div class="bar">
        <Button small disabled={formatted(d.body) === undefined} act={format}>Format as JSON</Button>
        <label class="button small">Body from a file<input type="file" class="hidden" onChange={(e) => void file(e.currentTarget.files?.[0])} /></label>
      </div>
    </>
  );
}

// Later is when messages become active.
interface Later {
  how: "now" | "at" | "after";
  at: string;
  after: string;
}

// instantOf returns the time; undefined means now. A span counts from what the clock of the namespace shows, which may be frozen or moved.
async function instantOf(namespace: string, l: Later): Promise<string | undefined> {
  if (l.how === "now") return undefined;
  if (l.how === "at") return timeIn(l.at);
  const span = msOf(l.after), clock = await get<Clock>(path_`${namespace}/clock`, { due: 1 });
  return new Date(Date.parse(clock.now) + span).toISOString();
}

function When({ later, set }: { later: Later; set: (l: Later) => void }) {
  return (
    <>
      <Field label="When"><select value={later.how} onChange={(e) => set({ ...later, how: e.currentTarget.value as Later["how"] })}>
        <option value="now">Now</option><option value="at">Scheduled at a time</option><option value="after">Scheduled after a span</option>
      </select></Field>
      {later.how === "at" && <Field label={`Time (${zone.value === "utc" ? "UTC" : "local time"})`} hint="By the clock of the namespace"><input type="datetime-local" step="1" value={later.at} onInput={(e) => set({ ...later, at: e.currentTarget.value })} /></Field>}
      {later.how === "after" && <SpanField label="Span" hint={`${spanHint}, by the clock of the namespace`} value={later.after} set={(after) => set({ ...later, after })} />}
    </>
  );
}

// Work is what is being sent.
interface Work {
  text: string;
  done: number;
  of: number;
}

// useWork runs one thing at a time, which can be stopped, and ends with the screen.
function useWork() {
  const [work, set] = useState<Work>(), [wrong, setWrong] = useState("");
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (act: (signal: AbortSignal, show: (w: Work) => void) => Promise<string>) => {
    setWrong("");
    const c = (stop.current = new AbortController());
    try {
      tell(await act(c.signal, set));
    } catch (e) {
      setWrong(textOf(e));
    }
    set(undefined);
    refresh();
  };
  return { work, wrong, setWrong, run, stop: () => stop.current?.abort() };
}

const range = (s: Sent) => (s.first === undefined ? "" : `: #${s.first}${s.done > 1 ? ` to #${s.last}` : ""}`);

function Working({ w, stop }: { w: Work; stop: () => void }) {
  return <div class="working"><progress class="job-progress" max={w.of} value={w.done} aria-label={w.text} /><div class="bar"><span role="status">{w.text}</span><Button small kind="danger" act={stop}>Stop</Button></div></div>;
}

// Repeat are the fields for how many messages, and how fast.
function Repeat({ copies, rate, setCopies, setRate }: { copies: string; rate: string; setCopies: (s: string) => void; setRate: (s: string) => void }) {
  return (
    <>
      <Field label="How many"><input inputMode="numeric" value={copies} onInput={(e) => setCopies(e.currentTarget.value)} /></Field>
      {copies.trim() !== "1" && <Field label="Messages per second" hint="Empty: as fast as they are taken"><input inputMode="decimal" value={rate} onInput={(e) => setRate(e.currentTarget.value)} /></Field>}
    </>
  );
}

function numbers(copies: string, rate: string): [number, number] {
  const n = Number(copies), r = rate.trim() === "" ? 0 : Number(rate);
  if (!Number.isInteger(n) || n < 1 || n > mostMessages) throw new Error(`How many: send 1 to ${number(mostMessages)} messages.`);
  if (!Number.isFinite(r) || r < 0 || (rate.trim() !== "" && r === 0)) throw new Error("Messages per second: write a number above 0, or nothing.");
  return [n, n === 1 ? 0 : r];
}

const inISO = (d: Draft): Draft => (d.fields.timeToLive ? { ...d, fields: { ...d.fields, timeToLive: isoSpan(d.fields.timeToLive) ?? "" } } : d);

// useDraft is the message of the form: one that there is, a template, or an empty one, as the address says.
function useDraft(namespace: string, query: Record<string, string>, setWrong: (s: string) => void) {
  const [d, set] = useState<Draft>(), [cut, setCut] = useState(false);
  useEffect(() => {
    const template = query.template === undefined ? undefined : templateNamed(query.template);
    if (query.template !== undefined && !template) setWrong(`This browser has no template ${query.template}.`);
    if (!query.from || !query.number) return set(template ?? fresh);
    let ended = false; // the address has changed meanwhile
    sourceOf(namespace, query.from, query.number).then(
      (m) => { if (ended) return; set(draftOf(m)); setCut(m.bodyCut === true); if (m.bodyCut) setWrong("The body is too large to edit here. What you send has its beginning only."); },
      (e) => { if (ended) return; set(fresh); setWrong(textOf(e)); });
    return () => { ended = true; };
  }, [query.from, query.number]);
  return [d, set, cut] as const;
}

export function Compose({ path }: { path: string }) {
  const { namespace, query } = route.value;
  const job = useWork();
  const [d, set, cut] = useDraft(namespace, query, job.setWrong), [later, setLater] = useState<Later>({ how: "now", at: "", after: "" });
  const [copies, setCopies] = useState("1"), [rate, setRate] = useState("");
  const letter = letterOf(query), [removing, setRemoving] = useState(true);
  if (!d) return <Loading />;
  const change = (p: Partial<Draft>) => set((old) => ({ ...(old ?? d), ...p }));
  const field = (name: string, value: string) => change({ fields: { ...d.fields, [name]: value } });
  const submit = (e: Event) => {
    e.preventDefault();
    void job.run(async (signal, show) => {
      const [n, r] = numbers(copies, rate), at = await instantOf(namespace, later);
      const sent = await repeat(namespace, path, n, r, (i) => messageOf(inISO(filled(d, i, n > 1)), at), signal, (s) => s.done < n && show({ text: `${number(s.done)} of ${number(n)} sent`, done: s.done, of: n }));
      if (letter && sent.done === n) return letter.after(namespace, `${at ? "Scheduled" : "Sent"}${n > 1 ? ` ${plural(n, "message")}, ` : " "}as #${sent.first}${n > 1 ? ` to #${sent.last}` : ""}`, removing && !cut);
      return `${plural(sent.done, "message")} ${at ? "scheduled" : "sent"}${range(sent)}.${sent.done < n ? " Stopped." : ""}`;
    });
  };
  const fromFile = (file?: File) => file && void job.run(async (signal, show) => {
    show({ text: `Reading ${file.name}`, done: 0, of: file.size });
    const sent = await sendFile(namespace, path, file, signal, (s, done) => show({ text: `${number(s.done)} sent`, done, of: file.size }));
    return `${plural(sent.done, "message")} sent${range(sent)}.${signal.aborted ? " Stopped." : ""}`;
  });
  return (
    <>
      <form onSubmit={submit} class="compose">
        <Panel title={letter ? `Mend and resubmit #${letter.number}` : <>Send to <Text>{shown(path)}</Text></>} actions={<>
          {(query.from || query.template) && <a class="button small" href={link("entity", path, "send")} onClick={() => { set(fresh); job.setWrong(""); }}>Clear</a>}
          <label class="button small" title="A file of JSON lines: each line is a whole message, as an export has them">Messages from a file<input type="file" accept=".jsonl,.ndjson,.json,.txt" class="hidden" disabled={job.work !== undefined} onChange={(e) => { fromFile(e.currentTarget.files?.[0]); e.currentTarget.value = ""; }} /></label>
        </>}>
          <BodyField d={d} set={change} />
          <Properties list={d.properties} set={(properties) => change({ properties })} />
          <div class="grid">
            {fields.map(([name, title]) => (
              d.kept[name] !== undefined ? <Field key={name} label={title}><input value={JSON.stringify(d.kept[name])} disabled /></Field>
                : name === "timeToLive" ? <SpanField key={name} label="Time to live" value={d.fields[name] ?? ""} set={(text) => field(name, text)} />
                : <Field key={name} label={title}><input value={d.fields[name] ?? ""} spellcheck={false} onInput={(e) => field(name, e.currentTarget.value)} /></Field>
            ))}
            <When later={later} set={setLater} />
            <Repeat copies={copies} rate={rate} setCopies={setCopies} setRate={setRate} />
          </div>
          <label class="check"><input type="checkbox" checked={d.fill} onChange={(e) => change({ fill: e.currentTarget.checked })} />
            <span>Replace <code>{"{{n}}"}</code> by the number of the message, <code>{"{{uuid}}"}</code> by a random id, and <code>{"{{now}}"}</code> by the time of the namespace, in the body, the fields and the properties</span></label>
          {letter && <Mending path={path} ofTopic={letter.ofTopic} cut={cut} remove={removing && !cut} set={setRemoving} />}
          {job.wrong && <Problem text={job.wrong} />}
          {job.work && <Working w={job.work} stop={job.stop} />}
          <div class="bar stick"><Button kind="primary" type="submit" disabled={job.work !== undefined}>{later.how === "now" ? "Send" : "Schedule"}</Button><a class="button" href={link("entity", path, "messages")}>See the messages</a></div>
        </Panel>
      </form>
      <Templates key={query.template} draft={d} chosen={query.template} use={(name, draft) => { set(draft); job.setWrong(""); refine({ template: name, from: undefined, number: undefined }); }} />
    </>
  );
}
