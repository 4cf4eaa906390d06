// One message: its body in several forms, its properties with their types, and what happened to it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { open, textOf } from "./api";
import { ask } from "./asking";
import { bytes, duration, visible } from "./format";
import { InstantField, instantTyped } from "./instantfield";
import { resubmit } from "./joborders";
import { save } from "./save";
import { Badge, Button, copy, Dialog, Empty, Facts, Loading, Name, Problem, Text, Time, type Children } from "./kit";
import { Timeline, useLife } from "./life";
import { ruleTestOf } from "./ruletest";
import { Body } from "./bodyview";
import { bodyPath, read, remove, reschedule, textOfValue, typed, type Message, type Value } from "./message";
import { stateTone } from "./messagecolumns";
import { deadLetters, natural, topicOf } from "./names";
import { usePoll } from "./poll";
import { entityAt, now } from "./state";
import { go, link, route, withQuery } from "./route";
import { tell } from "./toasts";
import { WhyDead } from "./whydead";

// CamelText is a name that breaks between its words only, unless one alone is too long.
function CamelText({ name }: { name: string }) {
  return <bdi>{visible(name).split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[._-])/).map((word, i) => <>{i > 0 && <wbr />}{word}</>)}</bdi>;
}

function Values({ title, values, without = [] }: { title: string; values?: Record<string, Value>; without?: string[] }) {
  const all = Object.entries(values ?? {}).filter(([name]) => !without.includes(name)).sort(([a], [b]) => natural(a, b));
  if (all.length === 0) return null;
  return (
    <section class="part">
      <h3>{title}</h3>
      <table class="plain values"><thead class="hidden"><tr><th>Name and type</th><th>Value</th></tr></thead>
        <tbody>{all.map(([name, value]) => {
          const t = typed(value);
          return <tr key={name}><td><CamelText name={name} /> {t.type !== "string" && <span class="type">{t.type}</span>}</td><td class="wrap"><Text>{t.text}</Text></td></tr>;
        })}</tbody></table>
    </section>
  );
}

const hidden = new Set(["applicationProperties", "annotations", "deliveryAnnotations", "footer", "body", "bodyBase64", "bodySections", "bodyValue", "bodySequence", "bodyBytes", "bodyCut", "state", "sequenceNumber", "deadLetterReason", "lockedBy"]);
const times = /(Time|At|Until)$/;
const words = (name: string) => name.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => a + " " + b.toLowerCase()).replace(/^./, (c) => c.toUpperCase());

function facts(m: Message): [string, Children][] {
  return Object.entries(m).filter(([k, v]) => !hidden.has(k) && v !== undefined && !(k === "absoluteExpiryTime" && v === m.expiresAt)).map(([k, v]) => {
    if (k === "sizeBytes") return ["Size", bytes(v as number)];
    if (k === "timeToLive") return ["Time to live", <span title={v as string}>{duration(v as string)}</span>];
    if (times.test(k) && typeof v === "string") return [words(k), <Time at={v} />];
    return [words(k), <Text class="wrap">{textOfValue(v)}</Text>];
  });
}

function Reschedule({ m, act, close }: { m: Message; act: (to: string) => Promise<void>; close: () => void }) {
  const [at, set] = useState(""), [wrong, setWrong] = useState("");
  const submit = async () => {
    try {
      await act(new Date(instantTyped(at, now.value)).toISOString());
      close();
    } catch (e) {
      setWrong(textOf(e));
    }
  };
  return (
    <Dialog title="Reschedule the message" close={close}>
      <div class="dialog-body">
        <p>Message #{m.sequenceNumber} is due <Time at={m.scheduledEnqueueTime} />.</p>
        <InstantField label="New time" hint=". A time in the past makes it active at once." value={at} set={(text) => { set(text); setWrong(""); }} now={now.value} wrong={wrong} />
      </div>
      <footer><Button act={close}>Cancel</Button><Button kind="primary" disabled={!at.trim()} act={submit}>Reschedule</Button></footer>
    </Dialog>
  );
}

// useMessage follows a message. Its body does not change, so it is asked for once; of a large message the rest is asked for less often too.
function useMessage(namespace: string, entity: string, sequence: string) {
  const first = useRef<Message>(undefined);
  const pause = (first.current?.sizeBytes ?? 0) > 1 << 20 ? 30_000 : 5000;
  return usePoll(JSON.stringify([namespace, entity, sequence]), pause, async (signal) => {
    const m = await read(namespace, entity, sequence, signal, first.current ? 0 : undefined);
    const { body, bodyBase64, bodySections, bodyValue, bodySequence, bodyBytes, bodyCut } = (first.current ??= m);
    return { ...m, body, bodyBase64, bodySections, bodyValue, bodySequence, bodyBytes, bodyCut };
  });
}

function Step({ to, title, sign }: { to?: string; title: string; sign: string }) {
  return <button type="button" class="button small step-to" aria-label={title} title={title} disabled={!to} onClick={() => to && go(to)}>{sign}</button>;
}

// Beside are the messages before and after one in the table, as addresses.
export interface Beside {
  before?: string;
  after?: string;
}

// connectionOf finds the connection in what the server says of a holder: "link 3 of connection c47 (…)".
const connectionOf = (holder: string) => / of connection (\S+)/.exec(holder)?.[1];

function Lock({ m }: { m: Message }) {
  const connection = connectionOf(m.lockedBy!);
  const who = <Text>{m.lockedBy!}</Text>;
  return <p class="hint">Locked by {connection ? <a href={withQuery(link("connections"), { connection })}>{who}</a> : who}, lock expires <Time at={m.lockedUntil} ageOnly /></p>;
}

// useKeys does what keys ask of the open message.
function useKeys(keys: Record<string, (() => unknown) | undefined>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => { // before the next key arrives
    const onKey = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest?.("input:not([type=checkbox]),textarea,select,dialog,[data-editor]") || document.querySelector("dialog[open]")) return;
      const act = latest.current[e.key];
      if (!act) return;
      e.preventDefault();
      void act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

export function MessageView({ path, dead, sequence, close, changed, beside }: { path: string; dead: boolean; sequence: string; close: string; changed: () => unknown; beside?: Beside }) {
  const namespace = route.value.namespace, entity = dead ? path + "/" + deadLetters : path;
  const p = useMessage(namespace, entity, sequence);
  const life = useLife(namespace, { entity: path, sequenceNumber: sequence });
  const [moving, move] = useState(false);
  const m = p.value, seq = Number(sequence), scheduled = m?.state === "scheduled";
  const done = async (text: string) => {
    go(close); // before anything asks for a message that is gone
    tell(text);
    await changed();
  };
  const deleteIt = () => ask(scheduled ? {
    title: "Cancel the scheduled message?", yes: "Cancel 1 message", losing: "cancel", text: <p>Message #{seq} of <b><Text>{entity}</Text></b> will not become active.</p>,
    act: async () => { await remove(namespace, entity, [seq]); await done(`Message #${seq} cancelled.`); },
  } : {
    title: "Delete the message?", yes: "Delete 1 message", losing: "delete", text: <p>Message #{seq} of <b><Text>{entity}</Text></b> will be deleted.</p>,
    act: async () => { await remove(namespace, entity, [seq]); await done(`Message #${seq} deleted.`); },
  });
  const edit = withQuery(link("entity", topicOf(path) ?? path, "send"), { from: entity, number: seq });
  const again = () => resubmit(entity, { sequenceNumbers: [seq] }, 1, () => done(`Message #${seq} resubmitted.`));
  const copyIt = () => copy(JSON.stringify(m, null, 2));
  const locked = m?.state === "locked";
  useKeys({
    Escape: () => go(close),
    ...(m && { e: () => go(edit), r: dead ? again : undefined, y: copyIt, Delete: locked ? undefined : deleteIt }),
  });
  const head = (title: Children) => (
    <header class="one-head"><h2>{title}</h2>
      <nav aria-label="Messages" class="actions push">
        <Step to={beside?.before} title="Previous message (k)" sign="‹" /><Step to={beside?.after} title="Next message (j)" sign="›" />
      </nav>
      <a class="close" href={close} aria-label="Close the message" title="Close (Esc)">×</a>
    </header>
  );
  const gone = () => (/^There is no message/.test(p.error!)
    ? <Empty title={`Message #${sequence} is no longer here`}><p>It has been received, deleted, moved or has expired. <a href={withQuery(link("life"), { entity: path, sequenceNumber: sequence })}>Trace it</a></p></Empty>
    : <Problem text={p.error!} retry={p.refresh} />);
  if (!m || p.error) {
    return <section class="panel one" aria-label="Message">{head(`#${sequence}`)}{p.error ? gone() : <div class="pad"><Loading /></div>}</section>;
  }
  const download = async () => save(await (await open("GET", bodyPath(namespace, entity, seq))).blob(), `message-${seq}`);
  const topic = topicOf(path) ?? (entityAt.value.get(path.toLowerCase())?.kind === "topic" ? path : undefined);
  return (
    <section class="panel one" aria-label={`Message ${seq}`}>
      {head(<><span>#{seq}</span> {!(dead && m.state === "active") && <Badge tone={stateTone[m.state ?? ""]}>{m.state}</Badge>} <Name class="one-id">{textOfValue(m.messageId)}</Name></>)}
      <div class="one-body">
        <div class="actions">
          <a class={`button small ${dead ? "primary" : ""}`} href={edit} title="Edit (e)">{dead ? "Edit and resubmit" : "Edit and send"}</a>
          {dead && <Button small act={again} title="Resubmit (r)">Resubmit</Button>}
          {scheduled && <Button small act={() => move(true)}>Reschedule</Button>}
          <Button small act={copyIt} title="Copy as JSON (y)">Copy as JSON</Button>
          {topic !== undefined && <a class="button small" href={ruleTestOf(topic, m)}>Which subscriptions get it?</a>}
          <Button small kind="danger" act={deleteIt} disabled={locked} title={locked ? "A client has locked it" : "Delete (Del)"}>{scheduled ? "Cancel the message" : "Delete"}</Button>
        </div>
        {dead && <WhyDead m={m} path={path} />}
        {scheduled && <p class="hint">Due <Time at={m.scheduledEnqueueTime} /></p>}
        {m.lockedBy && <Lock m={m} />}
        <Body m={m} download={download} />
        <Values title="Application properties" values={m.applicationProperties} without={dead ? ["DeadLetterReason", "DeadLetterErrorDescription"] : []} />
        <section class="part"><h3>Properties</h3><Facts facts={facts(m)} /></section>
        <Values title="Annotations" values={m.annotations} />
        <Values title="Delivery annotations" values={m.deliveryAnnotations} />
        <Values title="Footer" values={m.footer} />
        <section class="part"><h3>Trace</h3><Timeline of={life} level="h4" /></section>
      </div>
      {moving && <Reschedule m={m} close={() => move(false)} act={async (to) => { await reschedule(namespace, entity, seq, to); tell("Rescheduled."); p.refresh(); void changed(); }} />}
    </section>
  );
}
