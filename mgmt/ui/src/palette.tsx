// The command palette, and the list of keys.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { at as path, get, type Entity, type Schemas } from "./api";
import { asksForKey } from "./auth";
import { newEntity } from "./create";
import { wordsOf } from "./eventtable";
import { age, zone } from "./format";
import { Dialog, Name } from "./kit";
import { shown } from "./names";
import { go, link, linkIn, withQuery } from "./route";
import { focusSearch, screens } from "./sidebar";
import { current, entities, namespaces, now, theme } from "./state";
import { undoLast } from "./toasts";

const open = signal<"" | "palette" | "keys">("");

let screen = ""; // where it was opened

function show(what: "palette" | "keys"): void {
  screen = location.hash;
  open.value = what;
}

// What is open belongs to its screen: back or a bookmark leaves it.
addEventListener("hashchange", () => {
  if (location.hash !== screen) open.value = "";
});

interface Command {
  title: string;
  detail?: string;
  kind: string;
  run: () => void;
}

function commands(): Command[] {
  const list: Command[] = screens.map((s) => ({ title: s.title, kind: "screen", run: () => go(link(s.name)) }));
  for (const kind of ["queue", "topic", "subscription"] as const) list.push({ title: `New ${kind}`, kind: "act", run: () => go(newEntity(kind)) });
  for (const n of namespaces.value ?? []) if (n.name !== current.value) list.push({ title: n.name, kind: "namespace", run: () => go(linkIn(n.name, "")) });
  for (const t of ["light", "dark", "system"] as const) list.push({ title: `Theme: ${t}`, kind: "setting", run: () => (theme.value = t) });
  list.push({ title: zone.value === "utc" ? "Show local times" : "Show times in UTC", kind: "setting", run: () => (zone.value = zone.value === "utc" ? "local" : "utc") });
  list.push({ title: "Undo", kind: "act", run: undoLast });
  list.push({ title: "Keys", kind: "help", run: () => show("keys") });
  for (const e of entities.value ?? []) list.push({ title: shown(e.path), kind: e.kind, run: () => go(link("entity", e.path)) });
  return list;
}

const views: [string, string][] = [["messages", "Messages"], ["dead", "Dead letters"], ["send", "Send"], ["receive", "Receive"], ["sessions", "Sessions"], ["rules", "Rules"], ["test", "Test a message"], ["history", "History"], ["why", "Why don’t I receive?"], ["settings", "Settings"]];
const lacks: Record<Entity["kind"], string[]> = { queue: ["rules", "test"], topic: ["dead", "receive", "sessions", "rules"], subscription: ["send"] };

// viewsOf returns the views of an entity whose titles have a word that is typed beside a word of its name.
function viewsOf(e: Entity, words: string[]): Command[] {
  const path = e.path.toLowerCase();
  if (!words.some((w) => path.includes(w))) return [];
  return views.filter(([name, title]) => !lacks[e.kind].includes(name) && words.some((w) => title.toLowerCase().includes(w)))
    .map(([name, title]) => ({ title: `${shown(e.path)} › ${title}`, kind: e.kind, run: () => go(link("entity", e.path, name)) }));
}

const joins = (c?: string) => c !== undefined && /[\p{L}\p{N}]/u.test(c);

// place says how well a word fits into a title, from 0: it is the title, a word of it, the beginning of it or of a word, or within one; undefined: not at all.
function place(title: string, word: string): number | undefined {
  const at = title.indexOf(word);
  if (at < 0) return undefined;
  const begins = !joins(title[at - 1]), ends = !joins(title[at + word.length]);
  return title === word ? 0 : begins && ends ? 1 : at === 0 ? 2 : begins ? 3 : 4;
}

const fuzzy = 100_000; // the rank of titles from which on letters are left out

// rank says how well a title fits what is typed, the lower the better; -1: not at all. Letters of one word may be left out: "mord" finds "my-orders".
function rank(title: string, words: string[]): number {
  const t = title.toLowerCase(), places = words.map((w) => place(t, w));
  if (!places.includes(undefined)) return places.reduce<number>((n, p) => n + p! * 1000, 0) + Math.min(t.length, 999);
  if (words.length > 1) return -1;
  let i = 0;
  for (const c of t) if (c === words[0]![i]) i++;
  return i === words[0]!.length ? fuzzy + t.length : -1;
}

const most = 50;

type Found = Schemas["Found"];

// canBeId reports whether a text may be the id of a message, and not only the beginning of a name.
const canBeId = (text: string) => text.length > 1 && (/\d/.test(text) || text.length > 7);

const pauses = 200; // ms after the last key before messages are looked for

// useMessages looks for messages whose message id or correlation id is the text, or that it names as entity#number.
function useMessages(text: string): { found: Found[]; busy: boolean } {
  const [state, set] = useState<{ text: string; found: Found[] }>({ text: "", found: [] });
  useEffect(() => {
    if (!canBeId(text)) return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      get<Schemas["Lookup"]>(path`${current.value}/lookup`, { text }, end.signal).then((a) => a.items, () => []).then((found) => !end.signal.aborted && set({ text, found }));
    }, pauses);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [text]);
  return { found: state.text === text ? state.found : [], busy: canBeId(text) && state.text !== text };
}

const ids: Record<Found["by"], string> = { messageId: "message", correlationId: "correlation id", sequenceNumber: "message" };

// traced is the command that traces a message.
function traced(f: Found): Command {
  const where = `${shown(f.entity)}${f.subQueue ? "/" + f.subQueue : ""}#${f.sequenceNumber}`, what = f.last ? `${wordsOf(f.last)} ${age(Date.parse(f.time), now.value)}` : "held";
  return { title: f.messageId || where, detail: [f.messageId && where, what].filter(Boolean).join(" · "), kind: ids[f.by],
    run: () => go(withQuery(link("life"), { entity: f.entity, sequenceNumber: f.sequenceNumber })) };
}

function Palette() {
  const [text, setText] = useState(""), [at, setAt] = useState(0);
  const messages = useMessages(text.trim());
  const close = () => (open.value = "");
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/[\s›]+/).filter(Boolean);
    if (words.length === 0) return commands().slice(0, most);
    const all = words.length > 1 ? [...commands(), ...(entities.value ?? []).flatMap((e) => viewsOf(e, words))] : commands();
    const loosely = messages.found.length > 0 ? fuzzy : Infinity; // beside a message that is found only what has the text
    const named = all.map((c) => ({ c, r: rank(c.title, words) })).filter((x) => x.r >= 0 && x.r < loosely).sort((x, y) => x.r - y.r).map((x) => x.c);
    return [...messages.found.map(traced), ...named].slice(0, most);
  }, [text, entities.value, namespaces.value, messages.found]);
  const run = (c?: Command) => {
    if (!c) return;
    close();
    c.run();
  };
  const move = (by: number) => {
    const next = (at + by + found.length) % Math.max(found.length, 1);
    setAt(next);
    document.getElementById("command-" + next)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog title="Go to" close={close} wide>
      <input autofocus class="palette-input" role="combobox" aria-label="Screen, entity or message" aria-expanded="true" aria-controls="commands" aria-activedescendant={found.length ? "command-" + at : undefined}
        placeholder="orders dead, a message id, orders#7, a correlation id" value={text} spellcheck={false}
        onInput={(e) => { setText(e.currentTarget.value); setAt(0); }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") move(1);
          else if (e.key === "ArrowUp") move(-1);
          else if (e.key === "Enter") run(found[at]);
          else return;
          e.preventDefault();
        }} />
      <ul id="commands" role="listbox" aria-label="Commands" class="commands">
        {found.map((c, i) => (
          <li key={i} id={"command-" + i} role="option" aria-selected={i === at} onMouseMove={() => setAt(i)} onClick={() => run(c)}>
            <span class="command-title"><Name>{c.title}</Name>{c.detail && <span class="faint">{c.detail}</span>}</span><span class="faint command-kind">{c.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="hint palette-none" role="status">{messages.busy ? "Looking for a message…" : "No screen, entity or message matches."}</p>}
    </Dialog>
  );
}

const keys: [string, string][] = [
  ["/", "Search entities"], ["Ctrl K", "Go to a screen, an entity or a message"], ["?", "Show these keys"], ["n", "New queue, topic or subscription"], ["z", "Undo, when offered"], ["t", "Light or dark"], ["u", "Times: local or UTC"],
  ["j k", "Next or previous message"], ["1–9", "First to ninth tab of an entity"], ["e r y Del", "Open message: edit, resubmit, copy as JSON, delete"], ["Esc", "Close a dialog or a message; in an editor, then Tab to leave"], ...screens.map((s): [string, string] => ["g " + s.key, s.title]),
];

function Keys() {
  return (
    <Dialog title="Keys" close={() => (open.value = "")}>
      <dl class="keys" tabIndex={0}>{keys.map(([k, what]) => <div key={k}><dt>{k.split(" ").map((p) => <kbd key={p}>{p}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
    </Dialog>
  );
}

const patience = 1500; // ms from g to the letter of a screen, by when they were pressed
let waiting = -patience; // when g was pressed, ms

function toggleTheme(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = dark ? "light" : "dark";
}

function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    if (open.value === "palette") open.value = "";
    else show("palette");
    return;
  }
  const typing = (e.target as Element).closest?.("input,textarea,select,dialog,[data-editor]");
  if (typing || e.ctrlKey || e.metaKey || e.altKey || asksForKey.value) return;
  const second = e.timeStamp - waiting < patience && screens.find((s) => s.key === e.key);
  waiting = -patience;
  if (second) go(link(second.name));
  else if (e.key === "g") waiting = e.timeStamp;
  else if (e.key === "/") focusSearch();
  else if (e.key === "?") show("keys");
  else if (e.key === "n") go(newEntity("queue"));
  else if (e.key === "z") undoLast();
  else if (e.key === "t") toggleTheme();
  else if (e.key === "Escape") document.querySelector<HTMLAnchorElement>("a.close[href]")?.click(); // of an open message
  else if (e.key === "u") zone.value = zone.value === "utc" ? "local" : "utc";
  else return;
  e.preventDefault();
}

export function listenForKeys(): void {
  addEventListener("keydown", onKey);
}

export const openPalette = () => show("palette");
export const openKeys = () => show("keys");

export function Overlay() {
  if (open.value === "palette") return <Palette />;
  if (open.value === "keys") return <Keys />;
  return null;
}

