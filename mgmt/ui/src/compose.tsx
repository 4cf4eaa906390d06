// Sending: every property of a message, from nothing, from a file, from a template, or from a message that there is; once or many times, now or later.
import { useEffect, useRef, useState } from "preact/hooks";
import { at as path_, get, textOf } from "./api";
import { ask } from "./asking";
import { common, draftOf, fields, filled, fresh, messageOf, type Draft } from "./draft";
import { keepWriting, written, type Later, type Writing } from "./drafts";
import { msOf } from "./durations";
import { number, plural } from "./format";
import { InstantField, instantTyped } from "./instantfield";
import { formatted, mistakeAround } from "./json";
import { Button, Field, Loading, Panel, Problem, Text, type Children } from "./kit";
import { list } from "./message";
import { letterOf, Mending, sourceOf } from "./mending";
import { natural, shown } from "./names";
import { Properties } from "./properties";
import { link, refine, route } from "./route";
import { repeat, sendFile, type Sent } from "./sending";
import { isoSpan, SpanField, spanHint } from "./spanfield";
import { now, refresh, type Clock } from "./state";
import { Templates, templateNamed } from "./templates";
import { TextEdit } from "./textedit";
import { tell, tellOf } from "./toasts";
import { WhyEdited } from "./whydead";

const mostMessages = 1_000_000;

const json = "application/json";
const contentTypes = [json, "text/plain", "application/xml", "application/cloudevents+json", "application/octet-stream"];

// isJSON reports whether the body is meant to be JSON.
const isJSON = (d: Draft) => (d.fields.contentType ? /json/i.test(d.fields.contentType) : /^\s*[[{]/.test(d.body));

// brokenAt says where a body that is meant to be JSON is none.
function brokenAt(d: Draft): string | undefined {
  if (d.other || d.bytes !== undefined || d.body.trim() === "" || !isJSON(d)) return undefined;
  const at = mistakeAround(d.body);
  if (at === undefined) return undefined;
  const before = d.body.slice(0, at).split("\n");
  return at >= d.body.trimEnd().length ? "it ends too early" : `see line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

async function base64(file: File): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < data.length; i += 32_768) text += String.fromCharCode(...data.subarray(i, i + 32_768));
  return btoa(text);
}

function BodyField({ d, set, edits }: { d: Draft; set: (d: Partial<Draft>) => void; edits: boolean }) {
  const file = async (f?: File) => {
    if (f) set({ bytes: await base64(f), other: undefined, fields: { ...d.fields, contentType: d.fields.contentType || f.type } });
  };
  if (d.other) return <p class="hint">The body is an {Object.keys(d.other)[0] === "bodyValue" ? "AMQP value" : "AMQP sequence"} or has several sections. It is sent unchanged. <Button small act={() => set({ other: undefined })}>Write another body</Button></p>;
  if (d.bytes !== undefined) return <p class="hint">The body has {number(Math.floor((d.bytes.length * 3) / 4))} bytes. <Button small act={() => set({ bytes: undefined })}>Write text instead</Button></p>;
  const format = () => set({ body: formatted(d.body) ?? d.body, fields: { ...d.fields, contentType: d.fields.contentType || json } });
  return (
    <>
      <TextEdit label="Body" text={d.body} set={(body) => set({ body })} json={isJSON(d)} hint={'Text, or JSON such as {"orderId": 7}'} focus={edits} submits />
      <div class="bar">
        <Button small disabled={formatted(d.body) === undefined} act={format}>Format as JSON</Button>
        <label class="button small">Body from a file<input type="file" class="hidden" onChange={(e) => void file(e.currentTarget.files?.[0])} /></label>
        {d.line && <label class="check"><input type="checkbox" checked onChange={() => set({ line: undefined })} /> Send on one line, as it came</label>}
      </div>
    </>
  );
}

// instantOf returns the time; undefined means now. A span counts from what the clock of the namespace shows, which may be frozen or moved.
async function instantOf(namespace: string, l: Later): Promise<string | undefined> {
  if (l.how === "now") return undefined;
  if (l.how === "at") return new Date(instantTyped(l.at, now.value)).toISOString();
  const span = msOf(l.after), clock = await get<Clock>(path_`${namespace}/clock`, { due: 1 });
  return new Date(Date.parse(clock.now) + span).toISOString();
}

function When({ later, set }: { later: Later; set: (l: Later) => void }) {
  return (
    <>
      <Field label="When"><select value={later.how} onChange={(e) => set({ ...later, how: e.currentTarget.value as Later["how"] })}>
        <option value="now">Now</option><option value="at">At a time</option><option value="after">After a time span</option>
      </select></Field>
      {later.how === "at" && <InstantField label="Time" hint=", by the namespace’s clock" value={later.at} set={(at) => set({ ...later, at })} now={now.value} />}
      {later.how === "after" && <SpanField label="Time span" hint={`${spanHint}, by the namespace’s clock`} value={later.after} set={(after) => set({ ...later, after })} />}
    </>
  );
}

// Work is what is being sent.
interface Work {
  text: string;
  done: number;
  of: number;
}

// Done says what was sent, and the number of the first message to see.
interface Done {
  text: string;
  see?: number;
}

// useWork runs one thing at a time, which can be stopped, and ends with the screen.
function useWork(path: string) {
  const [work, set] = useState<Work>(), [wrong, setWrong] = useState("");
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (act: (signal: AbortSignal, show: (w: Work) => void) => Promise<Done>) => {
    setWrong("");
    const c = (stop.current = new AbortController());
    try {
      const { text, see } = await act(c.signal, set);
      if (see === undefined) tell(text);
      else tellOf(text, `See #${see}`, link("entity", path, "messages", String(see)));
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
      {copies.trim() !== "1" && <Field label="Messages per second" hint="Empty: as fast as possible"><input inputMode="decimal" value={rate} onInput={(e) => setRate(e.currentTarget.value)} /></Field>}
    </>
  );
}

function numbers(copies: string, rate: string): [number, number] {
  const n = Number(copies), r = rate.trim() === "" ? 0 : Number(rate);
  if (!Number.isInteger(n) || n < 1 || n > mostMessages) throw new Error(`How many: enter 1 to ${number(mostMessages)}.`);
  if (!Number.isFinite(r) || r < 0 || (rate.trim() !== "" && r === 0)) throw new Error("Messages per second: enter a number above 0, or leave it empty.");
  return [n, n === 1 ? 0 : r];
}

const inISO = (d: Draft): Draft => (d.fields.timeToLive ? { ...d, fields: { ...d.fields, timeToLive: isoSpan(d.fields.timeToLive) ?? "" } } : d);

const atOnce: Omit<Writing, "draft"> = { later: { how: "now", at: "", after: "" }, copies: "1", rate: "" };

// useWriting is the message of the form: what was written here before, a message that there is, a template, or an empty one.
function useWriting(namespace: string, path: string, query: Record<string, string>, setWrong: (s: string) => void) {
  const [w, set] = useState<Writing>(), [cut, setCut] = useState(false);
  useEffect(() => {
    const template = query.template === undefined ? undefined : templateNamed(query.template), before = written(namespace, path, query);
    if (query.template !== undefined && !template) setWrong(`This browser has no template ${query.template}.`);
    if (before && !template) return set(before);
    if (!query.from || !query.number) return set({ ...atOnce, draft: template ?? fresh });
    let ended = false; // the address has changed meanwhile
    sourceOf(namespace, query.from, query.number).then(
      (m) => { if (ended) return; set({ ...atOnce, draft: draftOf(m) }); setCut(m.bodyCut === true); if (m.bodyCut) setWrong("The body is too large to edit here. Only its beginning will be sent."); },
      (e) => { if (ended) return; set({ ...atOnce, draft: fresh }); setWrong(textOf(e)); });
    return () => { ended = true; };
  }, [query.from, query.number]);
  return [w, set, cut] as const;
}

interface Suggestions {
  subject: string[];
  sessionId: string[];
  names: string[]; // of application properties
}

// useSuggestions are what the newest messages of the entity have.
function useSuggestions(namespace: string, path: string): Suggestions {
  const [s, set] = useState<Suggestions>({ subject: [], sessionId: [], names: [] });
  useEffect(() => {
    const end = new AbortController(), of = (texts: (string | undefined)[]) => [...new Set(texts.filter((t) => t !== undefined && t !== ""))].sort((a, b) => natural(a!, b!)) as string[];
    list(namespace, path, { order: "newest", limit: 50, body: 0, properties: true }, end.signal).then(
      ({ items }) => set({ subject: of(items.map((m) => m.subject)), sessionId: of(items.map((m) => m.sessionId)), names: of(items.flatMap((m) => Object.keys(m.applicationProperties ?? {}))) }),
      () => undefined); // the form does without
    return () => end.abort();
  }, [namespace, path]);
  return s;
}

// Group are fields that are folded until one of them has a value.
function Group({ title, says, used, children }: { title: string; says: string; used: boolean; children: Children }) {
  const [open, set] = useState(used);
  useEffect(() => { if (used) set(true); }, [used]);
  return <details class="group" open={open} onToggle={(e) => set(e.currentTarget.open)} onInvalidCapture={() => set(true)}><summary><b>{title}</b> {says}</summary><div class="grid">{children}</div></details>;
}

const timed = ({ later, copies }: Writing) => `${later.how === "now" ? "now" : later.how === "at" ? "at a time" : "after a time span"}, ${copies.trim() === "1" ? "once" : copies + " times"}`;

export function Compose({ path }: { path: string }) {
  const { namespace, query } = route.value;
  const job = useWork(path), form = useRef<HTMLFormElement>(null);
  const [w, set, cut] = useWriting(namespace, path, query, job.setWrong);
  const letter = letterOf(query), [removing, setRemoving] = useState(true);
  const suggested = useSuggestions(namespace, path), chosenType = useRef(false);
  if (!w) return <Loading />;
  const { draft: d, later, copies, rate } = w, others = fields.filter(([name]) => !common.includes(name));
  const put = (p: Partial<Writing>) => {
    const next = { ...w, ...p };
    set(next);
    keepWriting(namespace, path, query, next);
  };
  const change = (p: Partial<Draft>) => {
    const draft = { ...d, ...p }, type = draft.fields.contentType ?? "";
    if (p.body !== undefined && !query.from && !chosenType.current && (type === "" || type === json)) { // it follows the body until somebody chooses one
      draft.fields = { ...draft.fields, contentType: /^\s*[[{]/.test(p.body) && mistakeAround(p.body) === undefined ? json : "" };
    }
    put({ draft });
  };
  const field = (name: string, value: string) => {
    if (name === "contentType") chosenType.current = true;
    change({ fields: { ...d.fields, [name]: value } });
  };
  const begin = () => job.run(async (signal, show) => {
    const [n, r] = numbers(copies, rate), at = await instantOf(namespace, later);
    const sent = await repeat(namespace, path, n, r, (i) => messageOf(inISO(filled(d, i, n > 1)), at), signal, (s) => s.done < n && show({ text: `${number(s.done)} of ${number(n)} sent`, done: s.done, of: n }));
    keepWriting(namespace, path, query);
    if (letter && sent.done === n) return { text: await letter.after(namespace, `${at ? "Scheduled" : "Sent"}${n > 1 ? ` ${plural(n, "message")}, ` : " "}as #${sent.first}${n > 1 ? ` to #${sent.last}` : ""}`, removing && !cut) };
    return { text: `${plural(sent.done, "message")} ${at ? "scheduled" : "sent"}${range(sent)}.${sent.done < n ? " Stopped." : ""}`, see: sent.first };
  });
  const submit = (e: Event) => {
    e.preventDefault();
    const broken = brokenAt(d);
    if (broken === undefined) return void begin();
    ask({ title: "Send a body that is not valid JSON?", yes: "Send it anyway", harmless: true, text: <p>The {d.fields.contentType ? "content type says JSON" : "body looks like JSON"}, but the body is not valid JSON: {broken}.</p>, act: () => { void begin(); } });
  };
  const fromFile = (file?: File) => file && void job.run(async (signal, show) => {
    show({ text: `Reading ${file.name}`, done: 0, of: file.size });
    const sent = await sendFile(namespace, path, file, signal, (s, done) => show({ text: `${number(s.done)} sent`, done, of: file.size }));
    return { text: `${plural(sent.done, "message")} sent${range(sent)}.${signal.aborted ? " Stopped." : ""}`, see: sent.first };
  });
  const input = ([name, title]: (typeof fields)[number]) => {
    if (d.kept[name] !== undefined) return <Field key={name} label={title}><input value={JSON.stringify(d.kept[name])} disabled /></Field>;
    if (name === "timeToLive") return <SpanField key={name} label={title} value={d.fields[name] ?? ""} set={(text) => field(name, text)} />;
    const options = name === "contentType" ? contentTypes : name === "subject" || name === "sessionId" ? suggested[name] : [];
    return (
      <Field key={name} label={title}>
        <input value={d.fields[name] ?? ""} spellcheck={false} list={options.length > 0 ? "suggested-" + name : undefined} onInput={(e) => field(name, e.currentTarget.value)} />
        {options.length > 0 && <datalist id={"suggested-" + name}>{options.map((o) => <option key={o} value={o} />)}</datalist>}
      </Field>
    );
  };
  const used = others.some(([name]) => d.fields[name] || d.kept[name] !== undefined), timely = later.how !== "now" || copies.trim() !== "1";
  const clear = () => {
    keepWriting(namespace, path, query);
    set({ ...atOnce, draft: fresh });
    job.setWrong("");
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    if (!job.work) form.current?.requestSubmit();
  };
  return (
    <>
      <form ref={form} onSubmit={submit} onKeyDown={onKey} class="compose">
        <Panel title={letter ? `Edit and resubmit #${letter.number}` : <>Send to <Text>{shown(path)}</Text></>} actions={<>
          {(query.from || query.template || d !== fresh) && <a class="button small" href={link("entity", path, "send")} onClick={clear}>Clear</a>}
          <label class="button small" title="A file of JSON lines, as an export writes it: each line is a message">Messages from a file<input type="file" accept=".jsonl,.ndjson,.json,.txt" class="hidden" disabled={job.work !== undefined} onChange={(e) => { fromFile(e.currentTarget.files?.[0]); e.currentTarget.value = ""; }} /></label>
        </>}>
          {letter && <WhyEdited entity={query.from!} number={letter.number} path={letter.holder} />}
          <BodyField d={d} set={change} edits={letter !== undefined} />
          <div class="grid">{fields.filter(([name]) => common.includes(name)).map(input)}</div>
          <Properties list={d.properties} set={(properties) => change({ properties })} names={suggested.names} />
          <Group title="More fields" says={others.map(([, title]) => title).join(", ")} used={used}>{others.map(input)}</Group>
          <Group title="Schedule and repeat" says={timed(w)} used={timely}>
            <When later={later} set={(later) => put({ later })} />
            <Repeat copies={copies} rate={rate} setCopies={(copies) => put({ copies })} setRate={(rate) => put({ rate })} />
          </Group>
          {(JSON.stringify(d).includes("{{") || copies.trim() !== "1") && (
            <label class="check"><input type="checkbox" checked={d.fill} onChange={(e) => change({ fill: e.currentTarget.checked })} />
              <span>Replace <code>{"{{n}}"}</code> with the number of the message, <code>{"{{uuid}}"}</code> with a random id and <code>{"{{now}}"}</code> with the time of the namespace</span></label>
          )}
          {letter && <Mending path={path} ofTopic={letter.ofTopic} cut={cut} remove={removing && !cut} set={setRemoving} />}
          {job.wrong && <Problem text={job.wrong} />}
          {job.work && <Working w={job.work} stop={job.stop} />}
          <div class="bar stick"><Button kind="primary" type="submit" disabled={job.work !== undefined} title="Ctrl Enter">{later.how !== "now" ? "Schedule" : letter ? "Resubmit" : "Send"}</Button><a class="button" href={link("entity", path, "messages")}>See the messages</a></div>
        </Panel>
      </form>
      <Templates key={query.template} draft={d} chosen={query.template} use={(name, draft) => { keepWriting(namespace, path, query); set({ ...atOnce, draft }); job.setWrong(""); refine({ template: name, from: undefined, number: undefined }); }} />
    </>
  );
}
