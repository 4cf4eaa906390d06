// The tab Receive of an entity: messages with locks, which the reader settles as a program would.
import { useEffect, useRef, useState } from "preact/hooks";
import { textOf } from "./api";
import { ask } from "./asking";
import { number, plural, span, time } from "./format";
import { check, drop, forgetOver, holding, receive, releaseSession, renew, renewSession, settle, type Held, type HeldSession, type Order, type Outcome, type Receipt } from "./held";
import { Badge, Button, CopyButton, Dialog, Empty, Field, Panel, Problem, Text, type Children } from "./kit";
import { preview, textOfValue } from "./message";
import { deadLetters, shown } from "./names";
import { every } from "./poll";
import { link, refine, route } from "./route";
import { clock, now } from "./state";
import { tell } from "./toasts";

const most = 64; // messages of one receive

interface Wish {
  count: string;
  wait: string;
  remove: boolean; // receive and delete
  numbers: string; // of deferred messages
  session: string; // which session: the next one, the one that is held, or named
  id: string;
}

// numbersOf reads sequence numbers. It throws if a word is none.
function numbersOf(text: string): number[] {
  return text.split(/[\s,;]+/).filter(Boolean).map((word) => {
    const n = Number(word.replace(/^#/, ""));
    if (!Number.isSafeInteger(n) || n < 1) throw new Error(`${word} is not a sequence number. Enter whole numbers, separated by commas.`);
    return n;
  });
}

function orderOf(w: Wish, sessions: boolean, held?: HeldSession): Order {
  const max = Number(w.count);
  if (!Number.isInteger(max) || max < 1 || max > most) throw new Error(`How many messages: enter 1 to ${most}.`);
  const numbers = numbersOf(w.numbers);
  const o: Order = { max, wait: w.wait, mode: w.remove ? "receiveAndDelete" : "peekLock" };
  if (numbers.length > 0) o.sequenceNumbers = numbers;
  if (!sessions) return o;
  if (held) return { ...o, session: held.id, sessionToken: held.token };
  return w.session === "named" ? { ...o, session: w.id } : { ...o, nextSession: true };
}

function Form({ namespace, entity, sessions, got }: { namespace: string; entity: string; sessions: boolean; got: (r: Receipt, removed: boolean) => void }) {
  const [w, set] = useState<Wish>({ count: "1", wait: "5s", remove: false, numbers: route.value.query.numbers ?? "", session: route.value.query.session === undefined ? "next" : "named", id: route.value.query.session ?? "" });
  const [wrong, setWrong] = useState(""), [busy, setBusy] = useState<AbortController>();
  const held = holding(namespace, entity).session;
  const run = async (o: Order) => {
    const end = new AbortController();
    setBusy(end);
    try {
      got(await receive(namespace, entity, o, end.signal), o.mode === "receiveAndDelete");
    } catch (e) {
      if (!end.signal.aborted) setWrong(textOf(e));
    }
    setBusy(undefined);
  };
  const submit = (e: Event) => {
    e.preventDefault();
    setWrong("");
    try {
      const o = orderOf(w, sessions, held);
      if (!w.remove) return void run(o);
      const n = o.sequenceNumbers?.length ?? o.max ?? 1;
      ask({
        title: "Receive and delete?", yes: `Receive and delete up to ${plural(n, "message")}`,
        text: <p>Up to {plural(n, "message")} of <b><Text>{shown(entity)}</Text></b> are deleted as they are received. No other receiver gets them, and they cannot be recovered.</p>, act: () => run(o),
      });
    } catch (x) {
      setWrong(textOf(x));
    }
  };
  const forgetDelete = held !== undefined && w.remove; // a session that is locked has the mode peekLock
  return (
    <form onSubmit={submit} class="compose receive-form">
      <Panel title="Receive">
        <div class="grid">
          <Field label="How many messages" hint={`At most ${most}`}><input inputMode="numeric" value={w.count} onInput={(e) => set({ ...w, count: e.currentTarget.value })} /></Field>
          <Field label="Wait"><select value={w.wait} onChange={(e) => set({ ...w, wait: e.currentTarget.value })}>{[["0s", "No wait"], ["5s", "5 s"], ["30s", "30 s"], ["60s", "60 s"]].map(([v, t]) => <option key={v} value={v}>{t}</option>)}</select></Field>
          <Field label="Receive mode"><select value={w.remove ? "delete" : "lock"} onChange={(e) => set({ ...w, remove: e.currentTarget.value === "delete" })}><option value="lock">PeekLock</option><option value="delete" disabled={held !== undefined}>ReceiveAndDelete</option></select></Field>
          {sessions && !held && <Field label="Session"><select value={w.session} onChange={(e) => set({ ...w, session: e.currentTarget.value })}><option value="next">Next available</option><option value="named">By session id</option></select></Field>}
          {sessions && !held && w.session === "named" && <Field label="Session id"><input value={w.id} spellcheck={false} onInput={(e) => set({ ...w, id: e.currentTarget.value })} /></Field>}
          <Field label="Deferred, by number" hint="Such as 7, 9"><input value={w.numbers} spellcheck={false} onInput={(e) => set({ ...w, numbers: e.currentTarget.value })} /></Field>
        </div>
        {w.remove && <p class="hint warn-text">Messages are deleted as they are received. When you close this page, they are gone.</p>}
        {wrong && <Problem text={wrong} />}
        <div class="bar">
          <Button kind="primary" type="submit" disabled={busy !== undefined || forgetDelete}>{held ? "Receive more from the session" : "Receive"}</Button>
          {busy && <Button act={() => busy.abort()}>Stop waiting</Button>}
          {busy && <span class="hint" role="status">Waiting for messages…</span>}
        </div>
      </Panel>
    </form>
  );
}

// Left is how long a lock still lasts, by the clock of the namespace.
function Left({ until }: { until: string }) {
  const ms = Date.parse(until) - now.value, frozen = clock.value?.frozen !== undefined;
  return <Badge tone={ms < 10_000 ? "bad" : "warn"} title={`Lock expires ${time(Date.parse(until), now.value)}`}>{ms > 0 ? "lock expires in " + span(ms + 999) : "lock expired"}{frozen && ", clock frozen"}</Badge>;
}

function DeadLetterDialog({ count, act, close }: { count: number; act: (reason: string, description: string) => Promise<void>; close: () => void }) {
  const [reason, setReason] = useState(""), [description, setDescription] = useState("");
  return (
    <Dialog title={`Dead-letter ${plural(count, "message")}`} close={close}>
      <div class="dialog-body">
        <Field label="Reason"><input value={reason} spellcheck={false} placeholder="Malformed" onInput={(e) => setReason(e.currentTarget.value)} /></Field>
        <Field label="Description"><textarea rows={3} value={description} onInput={(e) => setDescription(e.currentTarget.value)} /></Field>
      </div>
      <footer><Button act={close}>Cancel</Button><Button kind="danger" act={async () => { try { await act(reason, description); } finally { close(); } }}>Dead-letter</Button></footer>
    </Dialog>
  );
}

type Act = (tokens: string[], o: Outcome | "renew") => Promise<void>;

function Actions({ tokens, act, kill, dead }: { tokens: string[]; act: Act; kill: (tokens: string[]) => void; dead: boolean }) {
  return (
    <span class="actions">
      <Button small act={() => act(tokens, { outcome: "complete" })}>Complete</Button>
      <Button small act={() => act(tokens, { outcome: "abandon" })} title="Makes it available again and counts a delivery">Abandon</Button>
      <Button small act={() => act(tokens, { outcome: "defer" })} title="Sets it aside: it can be received only by its sequence number">Defer</Button>
      {!dead && <Button small act={() => kill(tokens)}>Dead-letter</Button>}
      <Button small act={() => act(tokens, "renew")}>Renew lock</Button>
      <Button small act={() => act(tokens, { outcome: "release" })} title="Makes it available again without counting a delivery">Release</Button>
    </span>
  );
}

function Row({ m, at, selected, toggle, children }: { m: Held; at: string; selected: boolean; toggle: () => void; children: Children }) {
  return (
    <li class={`held ${selected ? "selected" : ""}`}>
      <div class="held-head">
        <input type="checkbox" aria-label={`Select ${m.seq}`} checked={selected} onChange={toggle} />
        <a href={at}>#{m.seq}</a>
        {m.id && <Text class="held-id">{m.id}</Text>}
        {m.subject && <span class="faint"><Text>{m.subject}</Text></span>}
        {m.session !== undefined && <span class="faint">session <Text>{m.session}</Text></span>}
        {m.deliveries > 0 && <span class="faint">{plural(m.deliveries, "failed delivery", "failed deliveries")}</span>}
        <span class="push"><Left until={m.until} /></span>
      </div>
      <p class="held-body">{m.text ? <><Text class="mono small">{m.text}</Text>{m.cut && "…"}</> : <span class="faint">no body</span>}</p>
      {children}
    </li>
  );
}

function HeldList({ namespace, entity, path, dead }: { namespace: string; entity: string; path: string; dead: boolean }) {
  const h = holding(namespace, entity);
  const [selected, select] = useState<Set<string>>(new Set()), [killing, kill] = useState<string[]>();
  const chosen = h.messages.filter((m) => selected.has(m.token)).map((m) => m.token);
  const act: Act = async (tokens, o) => {
    try {
      if (o === "renew") await renew(namespace, entity, tokens);
      else await settle(namespace, entity, tokens, o);
    } catch (e) {
      const lost = await check(namespace, entity).catch(() => 0);
      throw lost > 0 ? new Error(`${textOf(e)}\nThe ${lost === 1 ? "lock of 1 message was" : `locks of ${number(lost)} messages were`} lost. ${lost === 1 ? "It is" : "They are"} no longer listed.`) : e;
    }
    const done = o === "renew" ? "renewed" : { complete: "completed", abandon: "abandoned", defer: "deferred", deadLetter: "dead-lettered", release: "released" }[o.outcome];
    const seqs = h.messages.filter((m) => tokens.includes(m.token)).map((m) => "#" + m.seq);
    tell(`${plural(tokens.length, "message")} ${done}: ${seqs.slice(0, 5).join(", ")}${seqs.length > 5 ? "…" : ""}.`);
  };
  if (h.messages.length === 0) return null;
  const toggle = (token: string) => {
    const next = new Set(selected);
    if (!next.delete(token)) next.add(token);
    select(next);
  };
  const everyone = chosen.length === h.messages.length;
  return (
    <Panel flush title={`${plural(h.messages.length, "message")} held`} actions={<Button small act={() => select(everyone ? new Set() : new Set(h.messages.map((m) => m.token)))}>{everyone ? "Select none" : "Select all"}</Button>}>
      {chosen.length > 0 && <div class="held-tools"><b>{plural(chosen.length, "message")} selected</b><Actions tokens={chosen} act={act} kill={kill} dead={dead} /></div>}
      <ul class="held-list" aria-label="Held messages">{h.messages.map((m) => (
        <Row key={m.token} m={m} at={link("entity", path, dead ? "dead" : "messages", String(m.seq))} selected={selected.has(m.token)} toggle={() => toggle(m.token)}>
          <Actions tokens={[m.token]} act={act} kill={kill} dead={dead} />
        </Row>
      ))}</ul>
      {killing && <DeadLetterDialog count={killing.length} close={() => kill(undefined)} act={(reason, description) => act(killing, { outcome: "deadLetter", reason: reason || undefined, description: description || undefined })} />}
    </Panel>
  );
}

function SessionPanel({ namespace, entity, s }: { namespace: string; entity: string; s: HeldSession }) {
  const fail = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (e) {
      drop(namespace, entity); // the token means nothing any more
      throw e;
    }
  };
  return (
    <Panel title={<>Session {s.id ? <Text>{s.id}</Text> : "(empty id)"} <Left until={s.lockedUntil} /></>}
      actions={<><Button small act={() => fail(() => renewSession(namespace, entity, s))}>Renew session lock</Button><Button small act={() => fail(() => releaseSession(namespace, entity, s))}>Release session</Button></>}>
      <p class="hint">This page holds the session lock. Release it to let other receivers accept the session; unsettled messages become available again and no delivery is counted.</p>
    </Panel>
  );
}

// Removed shows what was received and deleted: it is nowhere else any more.
function Removed({ list }: { list: Receipt["messages"] }) {
  return (
    <Panel flush title={`${plural(list.length, "message")} received and deleted`} actions={<CopyButton text={JSON.stringify(list, null, 2)} what="Copy as JSON" />}>
      <ul class="held-list" aria-label="Messages received and deleted">{list.map((m) => (
        <li key={m.sequenceNumber} class="held">
          <div class="held-head">#{m.sequenceNumber}<Text class="held-id">{textOfValue(m.messageId)}</Text></div>
          <p class="held-body"><Text class="mono small">{preview(m).slice(0, 2000)}</Text></p>
        </li>
      ))}</ul>
    </Panel>
  );
}

// useHoldings keeps the list of what is held true: locks that are over leave it, and the server says which stand.
function useHoldings(namespace: string, entity: string): void {
  useEffect(() => {
    forgetOver(namespace, entity, now.value);
    const asking = every(() => 5000, async (signal) => {
      const n = await check(namespace, entity, signal);
      if (n > 0) tell(`${plural(n, "lock")} lost: ${n === 1 ? "the message is" : "the messages are"} no longer held here.`);
    });
    return () => {
      asking.end();
      const { messages } = holding(namespace, entity);
      if (messages.length === 0) return;
      const last = Math.max(...messages.map((m) => Date.parse(m.until)));
      tell(`${plural(messages.length, "message")} of ${shown(entity)} ${messages.length === 1 ? "stays" : "stay"} locked until ${time(last, now.value)}. Settle ${messages.length === 1 ? "it" : "them"} on the Receive tab.`);
    };
  }, [namespace, entity]);
  const h = holding(namespace, entity), first = Math.min(...h.messages.map((m) => Date.parse(m.until)), h.session ? Date.parse(h.session.lockedUntil) : Infinity);
  const over = first <= now.value - 1000;
  useEffect(() => {
    if (!over) return;
    const before = holding(namespace, entity).messages.length;
    forgetOver(namespace, entity, now.value - 1000);
    const n = before - holding(namespace, entity).messages.length;
    if (n > 0) tell(`${plural(n, "lock")} expired. ${n === 1 ? "The message is" : "The messages are"} available again, with one more delivery counted.`);
  }, [over]);
}

export function Receive({ path, sessions }: { path: string; sessions: boolean }) {
  const { namespace, query } = route.value;
  const dead = query.from === "dead", entity = dead ? `${path}/${deadLetters}` : path;
  const [removed, setRemoved] = useState<Receipt["messages"]>([]), [none, setNone] = useState(false);
  const h = holding(namespace, entity), frozen = clock.value?.frozen !== undefined;
  useHoldings(namespace, entity);
  const latest = useRef(entity);
  if (latest.current !== entity) {
    latest.current = entity;
    setRemoved([]);
    setNone(false);
  }
  const got = (r: Receipt, gone: boolean) => {
    setNone(r.messages.length === 0);
    if (gone) setRemoved((old) => [...r.messages, ...old]);
  };
  return (
    <>
      <div class="chips" role="group" aria-label="From where">
        <button type="button" class="chip" aria-pressed={!dead} onClick={() => refine({ from: undefined })}>Messages</button>
        <button type="button" class="chip" aria-pressed={dead} onClick={() => refine({ from: "dead" })}>Dead letters</button>
      </div>
      <Form key={entity} namespace={namespace} entity={entity} sessions={sessions && !dead} got={got} />
      {h.session && <SessionPanel namespace={namespace} entity={entity} s={h.session} />}
      {none && <p class="hint" role="status">No message arrived in time. <a href={link("entity", path, "why")}>Why not?</a></p>}
      {frozen && h.messages.length > 0 && <p class="hint">The <a href={link("clock")}>clock</a> is frozen: locks expire only when it runs again or is advanced.</p>}
      <HeldList namespace={namespace} entity={entity} path={path} dead={dead} />
      {removed.length > 0 && <Removed list={removed} />}
      {h.messages.length === 0 && !h.session && removed.length === 0 && !none && (
        <Empty title="No messages held."><p>Messages that you receive in PeekLock mode are locked for this page: other receivers do not get them until you settle them or the lock expires. To peek without a lock, open <a href={link("entity", path, dead ? "dead" : "messages")}>{dead ? "Dead letters" : "Messages"}</a>.</p></Empty>
      )}
    </>
  );
}
