// The sessions of an entity: who holds them, their messages, and their state, which can be edited.
import { useEffect, useState } from "preact/hooks";
import { all, at, call, get, textOf, type Schemas, type Session } from "./api";
import { ask } from "./asking";
import { useConnections } from "./connections";
import { LongText } from "./fold";
import { bytes, number, plural } from "./format";
import { formatted } from "./json";
import { Button, copy, Dialog, Empty, Loading, Name, Problem, Text, Time } from "./kit";
import { clientOf } from "./names";
import { usePoll } from "./poll";
import { link, route, withQuery } from "./route";
import { looksLikeJSON, TextEdit } from "./textedit";
import { tellUndo } from "./toasts";
import { Table, type Column } from "./virtual";

type State = Schemas["SessionState"];

// useHolders returns a link to the connection that holds a session, under the name of its client; who has no connection is named as the server does.
function useHolders(path: string) {
  const list = useConnections(route.value.namespace, path).value ?? [];
  return (s: Session) => {
    const c = s.holder === undefined ? undefined : list.find((c) => c.links.some((l) => l.role === "receiver" && l.sessionId === s.id && l.entity?.toLowerCase() === path.toLowerCase()));
    return c ? <a href={withQuery(link("connections"), { connection: c.id })} title="Connection of the holder"><Name>{clientOf(c)}</Name></a> : <Name>{s.holder ?? ""}</Name>;
  };
}

const sessionAt = (namespace: string, path: string, id: string) => at`${namespace}/entities/${path}/sessions/${id || "$empty"}`;

function fromHex(text: string): string {
  const digits = text.replace(/\s+/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error("Hex has two digits, 0 to 9 and a to f, for each byte.");
  return btoa((digits.match(/../g) ?? []).map((d) => String.fromCharCode(parseInt(d, 16))).join(""));
}

const toHex = (base64: string) => [...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join(" ").replace(/((?:.. ){15}..) /g, "$1\n");

// textOfState is a state as a text, for people; bytes in hex.
const textOfState = (s: Partial<State>): string => (s.base64 !== undefined ? toHex(s.base64) : s.text ?? "");

const shownInRow = 60; // characters of a state
const mostInRow = 65_536; // bytes of a state that is read for its row

const readStates = new Map<string, string>(); // their beginnings, by address, size and time

// Beginning is the first characters of a state, which is read when its row comes in sight.
function Beginning({ address, s }: { address: string; s: Session }) {
  const key = [address, s.stateBytes, s.stateUpdated].join();
  const [, drawn] = useState(""), text = readStates.get(key);
  useEffect(() => {
    if (text !== undefined || s.stateBytes === undefined || s.stateBytes > mostInRow) return;
    const end = new AbortController();
    get<State>(address + "/state", {}, end.signal).then((x) => { readStates.set(key, textOfState(x).slice(0, shownInRow * 2)); drawn(key); }, () => undefined); // its window says why
    return () => end.abort();
  }, [key]);
  if (s.stateBytes === undefined) return <span class="faint">none</span>;
  return text === undefined ? <span class="faint">{bytes(s.stateBytes)}</span> : <Text class="mono small">{text.replace(/\s+/g, " ").slice(0, shownInRow) + (text.length > shownInRow ? "…" : "")}</Text>;
}

// StateDialog shows the state of a session, and edits it when it is asked to.
function StateDialog({ address, session, close }: { address: string; session: Session; close: () => void }) {
  const [before, setBefore] = useState<Partial<State>>(), [text, setText] = useState<string>(), [hex, setHex] = useState(false), [wrong, setWrong] = useState("");
  useEffect(() => {
    if (session.stateBytes === undefined) return setBefore({});
    get<State>(address + "/state").then(setBefore, (e) => setWrong(textOf(e)));
  }, [address]);
  const edit = () => {
    setHex(before!.base64 !== undefined);
    setText(textOfState(before!));
  };
  const done = (what: string) => {
    const { text, base64 } = before!, had = text !== undefined || base64 !== undefined;
    tellUndo(what, async () => {
      await (had ? call("PUT", address + "/state", { body: base64 !== undefined ? { base64 } : { text } }) : call("DELETE", address + "/state"));
      return had ? "The session has its old state again." : "The session has no state again.";
    });
    close();
  };
  const save = async () => {
    try {
      await call("PUT", address + "/state", { body: hex ? { base64: fromHex(text ?? "") } : { text: text ?? "" } });
      done("State saved.");
    } catch (e) {
      setWrong(textOf(e));
    }
  };
  const clear = () => ask({
    title: "Clear the session state?", yes: "Clear the state", text: <p>The state of the session <b><Text>{session.id}</Text></b>, {bytes(session.stateBytes ?? 0)}, will be removed.</p>,
    act: async () => {
      await call("DELETE", address + "/state");
      done("State cleared.");
    },
  });
  const has = session.stateBytes !== undefined, editing = text !== undefined;
  const seen = before && textOfState(before);
  return (
    <Dialog title={`State of session ${session.id || "(empty id)"}`} close={close} wide>
      <div class="dialog-body">
        {(session.stateUpdated || session.holder) && <p class="hint">{session.stateUpdated && <>Written <Time at={session.stateUpdated} />. </>}{session.holder && <>Held by <Text>{session.holder}</Text>, which can write it too.</>}</p>}
        {seen === undefined && !wrong && <Loading />}
        {seen !== undefined && !editing && (has ? <LongText text={before?.base64 === undefined ? formatted(seen) ?? seen : seen} label="State" /> : <p class="faint">The session has no state.</p>)}
        {editing && <>
          <TextEdit key={String(hex)} label={hex ? "Bytes, in hex" : "Text"} text={text} set={setText} json={!hex && looksLikeJSON(text)} />
          <label class="check"><input type="checkbox" checked={hex} onChange={(e) => { setHex(e.currentTarget.checked); setText(""); }} /> Write bytes in hex</label>
        </>}
        {wrong && <Problem text={wrong} />}
      </div>
      <footer>
        {editing && !hex && <Button act={() => setText(formatted(text) ?? text)}>Format as JSON</Button>}
        {!editing && seen && <Button act={() => copy(seen)}>Copy</Button>}
        {has && <Button kind="danger" act={clear} disabled={before === undefined}>Clear</Button>}
        <span class="push" />
        <Button act={close}>{editing ? "Cancel" : "Close"}</Button>
        {editing ? <Button kind="primary" act={save}>Save</Button> : <Button kind="primary" disabled={before === undefined} act={edit}>Edit</Button>}
      </footer>
    </Dialog>
  );
}

export function Sessions({ path }: { path: string }) {
  const namespace = route.value.namespace;
  const p = usePoll(JSON.stringify([namespace, path]), 2000, (signal) => all<Session>(at`${namespace}/entities/${path}/sessions`, {}, 5000, signal));
  const [open, show] = useState<Session>(), holder = useHolders(path);
  const breakLock = (s: Session) => ask({
    title: "Break the session lock?", yes: "Break the lock",
    text: <p><Text>{s.holder ?? ""}</Text> loses the lock of the session <b><Text>{s.id}</Text></b>. {s.locked > 0 && `${plural(s.locked, "unsettled message")} ${s.locked === 1 ? "becomes" : "become"} available again, and the`}{s.locked === 0 && "The"} next receiver can accept the session.</p>,
    act: async () => {
      await call("POST", sessionAt(namespace, path, s.id) + "/break");
      p.refresh();
    },
  });
  const messages = (s: Session) => withQuery(link("entity", path, "messages"), { sessionId: s.id || "$empty" });
  const name = (s: Session) => <a href={messages(s)} title="Messages of the session">{s.id ? <Name>{s.id}</Name> : "(empty id)"}</a>;
  const state = (s: Session) => <button type="button" class="link plain-link" title="Show the state" onClick={() => show(s)}><Beginning address={sessionAt(namespace, path, s.id)} s={s} /></button>;
  const columns: Column<Session>[] = [
    { name: "id", title: "Session id", width: "minmax(180px, 1.6fr)", show: name },
    { name: "active", yields: 2, title: "Active", width: "70px", right: true, show: (s) => number(s.active) },
    { name: "locked", yields: 6, title: "Locked", width: "70px", right: true, show: (s) => number(s.locked) },
    { name: "deferred", yields: 8, title: "Deferred", width: "76px", right: true, show: (s) => number(s.deferred) },
    { name: "scheduled", yields: 9, title: "Scheduled", width: "84px", right: true, show: (s) => number(s.scheduled) },
    { name: "holder", yields: 3, title: "Held by", width: "minmax(110px, .7fr)", show: (s) => (s.holder ? holder(s) : <span class="faint">nobody</span>) },
    { name: "until", title: "Lock expires", width: "110px", yields: 5, show: (s) => (s.lockedUntil ? <Time at={s.lockedUntil} ageOnly /> : null) },
    { name: "state", yields: 4, title: "State", width: "minmax(150px, 1.6fr)", show: state },
    { name: "Actions", title: "", width: "176px", right: true, show: (s) => <><Button small act={() => show(s)}>State</Button> {s.holder && <Button small kind="danger" act={() => breakLock(s)}>Break lock</Button>}</> },
  ];
  const brief = (s: Session) => (
    <div class="brief-lines">
      <div>{name(s)}<span class="push">{number(s.active)} active</span></div>
      <div>{s.holder ? <span class="faint">held by {holder(s)}</span> : state(s)}<span class="push"><Button small act={() => show(s)}>State</Button> {s.holder && <Button small kind="danger" act={() => breakLock(s)}>Break lock</Button>}</span></div>
    </div>
  );
  if (!p.value) return p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />;
  return (
    <>
      {p.error && <Problem text={p.error} />}
      {p.value.length === 0
        ? <Empty title="No sessions."><p>A session is listed while it has a message, a state or a receiver that holds it.</p></Empty>
        : <Table items={p.value} columns={columns} id={(s) => s.id} label="Sessions" brief={brief} />}
      {open && <StateDialog address={sessionAt(namespace, path, open.id)} session={open} close={() => { show(undefined); p.refresh(); }} />}
    </>
  );
}
