// One message: its body in several forms, its properties with their types, and its life.
import { useState } from "preact/hooks";
import { open, textOf } from "./api";
import { bytes, duration, zone } from "./format";
import { resubmit } from "./joborders";
import { ask, Badge, Button, copy, Dialog, Facts, Field, Loading, Problem, tell, Text, Time, type Children } from "./kit";
import { Timeline } from "./life";
import { bodyPath, bytesOf, formatted, hex, read, remove, reschedule, typed, type Message, type Value } from "./message";
import { stateTone } from "./messages";
import { deadLetters } from "./names";
import { usePoll } from "./poll";
import { link, route, withQuery } from "./route";

interface View {
  name: string;
  text: string;
}

// views are the forms in which the body can be shown, the best one first.
function views(m: Message): View[] {
  const list: View[] = [];
  const json = m.body !== undefined && !m.bodyCut ? formatted(m.body) : undefined;
  if (json !== undefined) list.push({ name: "JSON", text: json });
  if (m.body !== undefined) list.push({ name: "Text", text: m.body });
  if (m.bodyValue !== undefined) list.push({ name: "AMQP value", text: JSON.stringify(m.bodyValue, null, 2) });
  if (m.bodySequence) list.push({ name: "AMQP sequence", text: JSON.stringify(m.bodySequence, null, 2) });
  if (m.body !== undefined || m.bodyBase64 !== undefined || m.bodySections) list.push({ name: "Hex", text: hex(bytesOf(m)) });
  if (m.bodyBase64 !== undefined) list.push({ name: "Base64", text: m.bodyBase64 });
  return list;
}

function Body({ m, download }: { m: Message; download: () => Promise<void> }) {
  const all = views(m);
  const [chosen, choose] = useState("");
  const v = all.find((x) => x.name === chosen) ?? all[0];
  return (
    <section class="part">
      <div class="part-head">
        <h3>Body <span class="faint">{bytes(m.bodyBytes ?? 0)}</span></h3>
        <div class="chips" role="group" aria-label="Form of the body">{all.map((x) => <button key={x.name} type="button" class="chip" aria-pressed={x === v} onClick={() => choose(x.name)}>{x.name}</button>)}</div>
        <Button small act={() => copy(v?.text ?? "")} disabled={!v}>Copy</Button>
        <Button small act={download}>Download</Button>
      </div>
      {m.bodyCut && <p class="hint">The body is large: this is its beginning. Download it to have all of it.</p>}
      {v ? <pre class="body" tabIndex={0} aria-label="Body">{v.text}</pre> : <p class="hint">{m.bodyCut ? "It is not shown." : "The message has no body."}</p>}
    </section>
  );
}

function Values({ title, values }: { title: string; values?: Record<string, Value> }) {
  const all = Object.entries(values ?? {});
  if (all.length === 0) return null;
  return (
    <section class="part">
      <h3>{title}</h3>
      <table class="plain values"><thead class="hidden"><tr><th>Name</th><th>Value</th><th>Type</th></tr></thead>
        <tbody>{all.map(([name, value]) => {
          const t = typed(value);
          return <tr key={name}><td><Text>{name}</Text></td><td class="wrap"><Text>{t.text}</Text></td><td class="faint">{t.type}</td></tr>;
        })}</tbody></table>
    </section>
  );
}

const hidden = new Set(["applicationProperties", "annotations", "deliveryAnnotations", "footer", "body", "bodyBase64", "bodySections", "bodyValue", "bodySequence", "bodyBytes", "bodyCut", "state", "sequenceNumber"]);
const times = /(Time|At|Until)$/;
const words = (name: string) => name.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => a + " " + b.toLowerCase()).replace(/^./, (c) => c.toUpperCase());

function facts(m: Message): [string, Children][] {
  return Object.entries(m).filter(([k, v]) => !hidden.has(k) && v !== undefined).map(([k, v]) => {
    if (k === "sizeBytes") return ["Size", bytes(v as number)];
    if (k === "timeToLive") return ["Time to live", <span title={v as string}>{duration(v as string)}</span>];
    if (times.test(k) && typeof v === "string") return [words(k), <Time at={v} />];
    return [words(k), <Text class="wrap">{typed(v).text}</Text>];
  });
}

function Reschedule({ m, act, close }: { m: Message; act: (to: string) => Promise<void>; close: () => void }) {
  const [at, set] = useState(""), [wrong, setWrong] = useState("");
  const submit = async () => {
    try {
      await act(new Date(zone.value === "utc" ? at + "Z" : at).toISOString());
      close();
    } catch (e) {
      setWrong(textOf(e));
    }
  };
  return (
    <Dialog title="Give it another time" close={close}>
      <div class="dialog-body">
        <p>Message #{m.sequenceNumber} becomes active <Time at={m.scheduledEnqueueTime} />.</p>
        <Field label={`New time (${zone.value === "utc" ? "UTC" : "local time"})`} hint="A time that has come makes it active at once."><input type="datetime-local" step="1" value={at} onInput={(e) => set(e.currentTarget.value)} /></Field>
        {wrong && <Problem text={wrong} />}
      </div>
      <footer><Button act={close}>Keep</Button><Button kind="primary" disabled={!at} act={submit}>Reschedule</Button></footer>
    </Dialog>
  );
}

// save gives bytes to the reader as a file.
function save(data: Blob, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(data);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

export function MessageView({ path, dead, sequence, close, changed }: { path: string; dead: boolean; sequence: string; close: string; changed: () => unknown }) {
  const namespace = route.value.namespace, entity = dead ? path + "/" + deadLetters : path;
  const p = usePoll(JSON.stringify([namespace, entity, sequence]), 5000, (signal) => read(namespace, entity, sequence, signal));
  const [moving, move] = useState(false);
  const m = p.value;
  const head = (title: Children) => <header class="one-head"><h2>{title}</h2><a class="close" href={close} aria-label="Close the message">×</a></header>;
  if (!m || p.error) {
    return <section class="panel one" aria-label="Message">{head(`#${sequence}`)}{p.error ? <><Problem text={p.error} retry={p.refresh} /><p class="hint pad">It may have been received or removed meanwhile. <a href={withQuery(link("life"), { entity: path, sequenceNumber: sequence })}>See its life</a></p></> : <Loading />}</section>;
  }
  const seq = m.sequenceNumber;
  const done = async (text: string) => {
    tell(text);
    location.hash = close; // before anything asks for a message that is gone
    await changed();
  };
  const removeIt = () => ask({
    title: m.state === "scheduled" ? "Cancel this message?" : "Remove this message?", yes: "Remove 1 message", text: <p>Message #{seq} of <b><Text>{entity}</Text></b> is removed. This cannot be undone.</p>,
    act: async () => { await remove(namespace, entity, [seq]); await done(`Message #${seq} removed.`); },
  });
  const download = async () => save(await (await open("GET", bodyPath(namespace, entity, seq))).blob(), `message-${seq}`);
  const edit = withQuery(link("entity", path, "send"), { from: entity, number: seq });
  return (
    <section class="panel one" aria-label={`Message ${seq}`}>
      {head(<>#{seq} <Badge tone={stateTone[m.state]}>{m.state}</Badge> {m.deadLetterReason !== undefined && <Badge tone="bad">{m.deadLetterReason}</Badge>}</>)}
      <div class="one-body">
        <div class="actions">
          <a class="button small" href={edit}>Edit and send</a>
          {dead && <Button small act={() => resubmit(entity, { sequenceNumbers: [seq] }, 1, () => done(`Message #${seq} sent again.`))}>Resubmit</Button>}
          {m.state === "scheduled" && <Button small act={() => move(true)}>Reschedule</Button>}
          <Button small act={() => copy(JSON.stringify(m, null, 2))}>Copy as JSON</Button>
          <Button small kind="danger" act={removeIt} disabled={m.state === "locked"} title={m.state === "locked" ? "A client has locked it" : undefined}>Remove</Button>
        </div>
        {m.lockedBy && <p class="hint">Locked by <Text>{m.lockedBy}</Text>, until <Time at={m.lockedUntil} /></p>}
        <Body m={m} download={download} />
        <Values title="Application properties" values={m.applicationProperties} />
        <section class="part"><h3>Properties</h3><Facts facts={facts(m)} /></section>
        <Values title="Annotations" values={m.annotations} />
        <Values title="Delivery annotations" values={m.deliveryAnnotations} />
        <Values title="Footer" values={m.footer} />
        <section class="part"><h3>Life</h3><Timeline namespace={namespace} message={{ entity: path, sequenceNumber: String(seq) }} /></section>
      </div>
      {moving && <Reschedule m={m} close={() => move(false)} act={async (to) => { await reschedule(namespace, entity, seq, to); tell("Rescheduled."); p.refresh(); void changed(); }} />}
    </section>
  );
}

