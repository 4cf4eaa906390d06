// Sending: every property of a message, from nothing, from a file, or from a message that there is.
import { useEffect, useState } from "preact/hooks";
import { textOf } from "./api";
import { number, plural, zone } from "./format";
import { Button, Field, Loading, Panel, Problem, tell, Text } from "./kit";
import { formatted, read, send, typed, type Message } from "./message";
import { shown } from "./names";
import { Properties, valueOf, type Property } from "./properties";
import { link, route } from "./route";
import { refresh } from "./state";

export const fields: [string, string][] = [
  ["messageId", "Message id"], ["subject", "Subject"], ["contentType", "Content type"], ["correlationId", "Correlation id"], ["sessionId", "Session id"],
  ["partitionKey", "Partition key"], ["to", "To"], ["replyTo", "Reply to"], ["replyToSessionId", "Reply to session"], ["timeToLive", "Time to live, such as PT1H"],
];

interface Draft {
  body: string;
  bytes?: string; // base64, of a file or a body that is no text
  other?: Record<string, unknown>; // a body of another kind, sent as it is
  fields: Record<string, string>;
  kept: Record<string, unknown>; // typed ids and further sections of a message that was read
  properties: Property[];
}

const fresh: Draft = { body: "", fields: {}, kept: {}, properties: [] };

// draftOf makes a draft of a message that there is.
function draftOf(m: Message): Draft {
  const d: Draft = { body: m.body ?? "", bytes: m.bodyBase64, fields: {}, kept: {}, properties: [] };
  for (const [name] of fields) {
    const v = m[name];
    if (typeof v === "string") d.fields[name] = v;
    else if (v !== undefined) d.kept[name] = v;
  }
  for (const name of ["contentEncoding", "priority", "annotations", "userId", "footer"]) if (m[name] !== undefined) d.kept[name] = m[name];
  for (const name of ["bodyValue", "bodySequence", "bodySections"]) if (m[name] !== undefined) d.other = { [name]: m[name] };
  for (const [name, value] of Object.entries(m.applicationProperties ?? {})) {
    if (!["DeadLetterReason", "DeadLetterErrorDescription"].includes(name)) d.properties.push({ name, ...typed(value) });
  }
  return d;
}

function messageOf(d: Draft, at: string): Record<string, unknown> {
  const m: Record<string, unknown> = { ...d.kept };
  for (const [name, value] of Object.entries(d.fields)) if (value !== "") m[name] = value;
  if (d.other) Object.assign(m, d.other);
  else if (d.bytes !== undefined) m.bodyBase64 = d.bytes;
  else m.body = d.body;
  if (at) m.scheduledEnqueueTime = new Date(zone.value === "utc" ? at + "Z" : at).toISOString();
  const properties = d.properties.filter((p) => p.name !== "");
  if (properties.length > 0) m.applicationProperties = Object.fromEntries(properties.map((p) => [p.name, valueOf(p)]));
  return m;
}

const most = 1000; // messages that one request sends

async function base64(file: File): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < data.length; i += 32_768) text += String.fromCharCode(...data.subarray(i, i + 32_768));
  return btoa(text);
}

function BodyField({ d, set }: { d: Draft; set: (d: Draft) => void }) {
  const file = async (f?: File) => {
    if (!f) return;
    const bytes = await base64(f);
    set({ ...d, bytes, other: undefined, fields: { ...d.fields, contentType: d.fields.contentType || f.type } });
  };
  if (d.other) return <p class="hint">The body is an {Object.keys(d.other)[0] === "bodyValue" ? "AMQP value" : "AMQP sequence"} or of several sections. It is sent as it is. <Button small act={() => set({ ...d, other: undefined })}>Write another body</Button></p>;
  if (d.bytes !== undefined) return <p class="hint">The body is of {number(Math.floor((d.bytes.length * 3) / 4))} bytes. <Button small act={() => set({ ...d, bytes: undefined })}>Write a text instead</Button></p>;
  return (
    <>
      <Field label="Body"><textarea rows={11} value={d.body} spellcheck={false} placeholder={'{"id": 7}'} onInput={(e) => set({ ...d, body: e.currentTarget.value })} /></Field>
      <div class="bar">
        <Button small disabled={formatted(d.body) === undefined} act={() => set({ ...d, body: formatted(d.body) ?? d.body, fields: { ...d.fields, contentType: d.fields.contentType || "application/json" } })}>Format as JSON</Button>
        <label class="button small">From a file<input type="file" class="hidden" onChange={(e) => void file(e.currentTarget.files?.[0])} /></label>
      </div>
    </>
  );
}

export function Compose({ path }: { path: string }) {
  const { namespace, query } = route.value;
  const [d, set] = useState<Draft>(), [at, setAt] = useState(""), [copies, setCopies] = useState("1"), [wrong, setWrong] = useState("");
  useEffect(() => {
    if (!query.from || !query.number) return set(fresh);
    read(namespace, query.from, query.number).then(
      (m) => { set(draftOf(m)); if (m.bodyCut) setWrong("The body is too large to edit here. What you send has its beginning only."); },
      (e) => { set(fresh); setWrong(textOf(e)); });
  }, [query.from, query.number]);
  if (!d) return <Loading />;
  const submit = async (e: Event) => {
    e.preventDefault();
    setWrong("");
    try {
      const n = Number(copies);
      if (!Number.isInteger(n) || n < 1 || n > most) throw new Error(`Send 1 to ${number(most)} messages at once.`);
      const m = messageOf(d, at), id = d.fields.messageId;
      const sent = await send(namespace, path, Array.from({ length: n }, (_, i) => (n > 1 && id ? { ...m, messageId: `${id}-${i + 1}` } : m)));
      tell(`${plural(n, "message")} ${at ? "scheduled" : "sent"}: #${sent.sequenceNumbers[0]}${n > 1 ? ` to #${sent.sequenceNumbers[n - 1]}` : ""}.`);
      refresh();
    } catch (x) {
      setWrong(textOf(x));
    }
  };
  const field = (name: string, value: string) => set({ ...d, fields: { ...d.fields, [name]: value } });
  return (
    <form onSubmit={submit} class="compose">
      <Panel title={<>Send to <Text>{shown(path)}</Text></>} actions={query.from ? <a class="button small" href={link("entity", path, "send")}>Begin anew</a> : undefined}>
        <BodyField d={d} set={set} />
        <Properties list={d.properties} set={(properties) => set({ ...d, properties })} />
        <div class="grid">{fields.map(([name, title]) => (
          d.kept[name] !== undefined ? <Field key={name} label={title}><input value={JSON.stringify(d.kept[name])} disabled /></Field>
            : <Field key={name} label={title}><input value={d.fields[name] ?? ""} spellcheck={false} onInput={(e) => field(name, e.currentTarget.value)} /></Field>
        ))}
          <Field label={`Scheduled for (${zone.value === "utc" ? "UTC" : "local time"})`}><input type="datetime-local" step="1" value={at} onInput={(e) => setAt(e.currentTarget.value)} /></Field>
          <Field label="How many"><input inputMode="numeric" value={copies} onInput={(e) => setCopies(e.currentTarget.value)} /></Field>
        </div>
        {wrong && <Problem text={wrong} />}
        <div class="bar"><Button kind="primary" type="submit">{at ? "Schedule" : "Send"}</Button><a class="button" href={link("entity", path, "messages")}>See the messages</a></div>
      </Panel>
    </form>
  );
}
