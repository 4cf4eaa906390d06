// The sessions of an entity: who holds them, what they wait for, and their state, which can be edited.
import { useEffect, useRef, useState } from "preact/hooks";
import { all, at, call, get, textOf, type Schemas, type Session } from "./api";
import { ask } from "./asking";
import { bytes, number } from "./format";
import { formatted } from "./json";
import { Button, Dialog, Empty, Loading, Problem, Text, Time } from "./kit";
import { usePoll } from "./poll";
import { route } from "./route";
import { looksLikeJSON, TextEdit } from "./textedit";
import { tellUndo } from "./toasts";
import { Table, type Column } from "./virtual";

type State = Schemas["SessionState"];

const sessionAt = (namespace: string, path: string, id: string) => at`${namespace}/entities/${path}/sessions/${id || "$empty"}`;

function fromHex(text: string): string {
  const digits = text.replace(/\s+/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error("Hex has two digits, 0 to 9 and a to f, for each byte.");
  return btoa((digits.match(/../g) ?? []).map((d) => String.fromCharCode(parseInt(d, 16))).join(""));
}

const toHex = (base64: string) => [...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join(" ").replace(/((?:.. ){15}..) /g, "$1\n");

function Editor({ address, session, close }: { address: string; session: Session; close: () => void }) {
  const [text, setText] = useState<string>(), [hex, setHex] = useState(false), [wrong, setWrong] = useState(""), before = useRef<Partial<State>>({});
  useEffect(() => {
    if (session.stateBytes === undefined) return setText("");
    get<State>(address + "/state").then(
      (s) => { before.current = s; setHex(s.base64 !== undefined); setText(s.base64 !== undefined ? toHex(s.base64) : s.text ?? ""); },
      (e) => setWrong(textOf(e)));
  }, [address]);
  const done = (what: string) => {
    const { text, base64 } = before.current, had = text !== undefined || base64 !== undefined;
    tellUndo(what, async () => {
      await (had ? call("PUT", address + "/state", { body: base64 !== undefined ? { base64 } : { text } }) : call("DELETE", address + "/state"));
      return had ? "The session has its old state again." : "The session has no state again.";
    });
    close();
  };
  const save = async () => {
    try {
      await call("PUT", address + "/state", { body: hex ? { base64: fromHex(text ?? "") } : { text: text ?? "" } });
      done("The state is written.");
    } catch (e) {
      setWrong(textOf(e));
    }
  };
  const clear = () => ask({
    title: "Clear the state?", yes: "Clear the state", text: <p>The state of the session <b><Text>{session.id}</Text></b>, {bytes(session.stateBytes ?? 0)}, is removed.</p>,
    act: async () => {
      await call("DELETE", address + "/state");
      done("The state is cleared.");
    },
  });
  return (
    <Dialog title="State of a session" close={close} wide>
      <div class="dialog-body">
        <p>Session <b><Text>{session.id || "(the empty text)"}</Text></b>{session.holder && <>, held by <Text>{session.holder}</Text>, which may write it too</>}</p>
        {text === undefined && !wrong && <Loading />}
        {text !== undefined && <>
          <TextEdit key={String(hex)} label={hex ? "Bytes, in hex" : "Text"} text={text} set={setText} json={!hex && looksLikeJSON(text)} />
          <label class="check"><input type="checkbox" checked={hex} onChange={(e) => { setHex(e.currentTarget.checked); setText(""); }} /> Write bytes in hex</label>
        </>}
        {wrong && <Problem text={wrong} />}
      </div>
      <footer>
        {!hex && <Button act={() => setText(formatted(text ?? "") ?? text)}>Format as JSON</Button>}
        {session.stateBytes !== undefined && <Button kind="danger" act={clear}>Clear</Button>}
        <span class="push" />
        <Button act={close}>Close</Button>
        <Button kind="primary" disabled={text === undefined} act={save}>Save</Button>
      </footer>
    </Dialog>
  );
}

export function Sessions({ path }: { path: string }) {
  const namespace = route.value.namespace;
  const p = usePoll(JSON.stringify([namespace, path]), 2000, (signal) => all<Session>(at`${namespace}/entities/${path}/sessions`, {}, 5000, signal));
  const [editing, edit] = useState<Session>();
  const breakLock = (s: Session) => ask({
    title: "Take the lock of the session?", yes: "Take the lock",
    text: <p><Text>{s.holder ?? ""}</Text> loses the session <b><Text>{s.id}</Text></b>. The {number(s.locked)} messages that it has not settled come back, and the next receiver can have the session.</p>,
    act: async () => {
      await call("POST", sessionAt(namespace, path, s.id) + "/break");
      p.refresh();
    },
  });
  const columns: Column<Session>[] = [
    { name: "id", title: "Session", width: "minmax(100px, 1fr)", show: (s) => (s.id ? <Text>{s.id}</Text> : <span class="faint">(the empty text)</span>) },
    { name: "active", yields: 2, title: "Active", width: "70px", right: true, show: (s) => number(s.active) },
    { name: "locked", yields: 6, title: "Locked", width: "70px", right: true, show: (s) => number(s.locked) },
    { name: "deferred", yields: 8, title: "Deferred", width: "76px", right: true, show: (s) => number(s.deferred) },
    { name: "scheduled", yields: 9, title: "Scheduled", width: "84px", right: true, show: (s) => number(s.scheduled) },
    { name: "holder", yields: 3, title: "Held by", width: "minmax(120px, 1fr)", show: (s) => (s.holder ? <Text>{s.holder}</Text> : <span class="faint">free</span>) },
    { name: "until", title: "Until", width: "100px", yields: 5, show: (s) => (s.lockedUntil ? <Time at={s.lockedUntil} ageOnly /> : null) },
    { name: "state", yields: 4, title: "State", width: "90px", right: true, show: (s) => (s.stateBytes !== undefined ? bytes(s.stateBytes) : <span class="faint">none</span>) },
    { name: "actions", title: "", width: "172px", right: true, show: (s) => <><Button small act={() => edit(s)}>State</Button> {s.holder && <Button small kind="danger" act={() => breakLock(s)}>Take lock</Button>}</> },
  ];
  if (!p.value) return p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />;
  return (
    <>
      {p.error && <Problem text={p.error} />}
      {p.value.length === 0
        ? <Empty title="There is no session."><p>A session is here while it has a message, a state or a holder. On an entity that requires sessions each message has a session id.</p></Empty>
        : <Table items={p.value} columns={columns} id={(s) => s.id} label="Sessions" />}
      {editing && <Editor address={sessionAt(namespace, path, editing.id)} session={editing} close={() => { edit(undefined); p.refresh(); }} />}
    </>
  );
}
