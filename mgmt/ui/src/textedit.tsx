// A field for a long text. It is a plain one until the editor, a script of its own, has come; it stays one if that does not come.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Language, Mounted } from "./editor";
import { wordAt } from "./findings";

let script: Promise<typeof import("./editor")> | undefined;

// load loads the editor once.
function load() {
  script ??= import("./editor.js");
  script.catch(() => (script = undefined)); // the next field tries again
  return script;
}

export const looksLikeJSON = (text: string): boolean => /^\s*[[{"]/.test(text);

// Place is where the reader is led: to the word there, or before it.
export interface Place {
  line: number; // from 1
  column: number; // from 0
  caret?: boolean; // nothing is selected
}

interface Props {
  label: string;
  text: string;
  set?: (text: string) => void;
  fixed?: boolean; // it can be searched and copied, and not changed
  json?: boolean;
  code?: boolean; // its lines are indented, and so not wrapped on a phone
  language?: Language; // json says it, too
  hint?: string;
  rows?: number;
  place?: Place; // a new one moves the cursor there
  wrong?: boolean;
  focus?: boolean; // from the beginning
  submits?: boolean; // Ctrl Enter is for the form around it
}

export function TextEdit({ label, text, set = () => undefined, json = false, code, language = json ? "json" : "text", hint, rows = 12, place, wrong, fixed, focus = false, submits = false }: Props) {
  const host = useRef<HTMLDivElement>(null), plain = useRef<HTMLTextAreaElement>(null), mounted = useRef<Mounted>(undefined);
  const [ready, setReady] = useState(false), focused = useRef<[number, number]>(undefined); // what was selected in the plain field, if it had the focus
  const told = useRef<string[]>([]); // by the editor, and not yet come back as text: what comes back late must not undo what was typed since
  const latest = useRef({ text, set, language });
  latest.current = { text, set, language };
  useLayoutEffect(() => {
    if (focus) plain.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    let ended = false;
    load().then((editor) => {
      if (ended || !host.current) return;
      const p = plain.current;
      if (p && document.activeElement === p) focused.current = [p.selectionStart, p.selectionEnd];
      mounted.current = editor.mount(host.current, { text: latest.current.text, label, hint, language: latest.current.language, fixed, code, submits, changed: (t) => { told.current.push(t); latest.current.set(t); } });
      setReady(true);
    }, () => undefined);
    return () => {
      ended = true;
      mounted.current?.end();
    };
  }, []);
  useLayoutEffect(() => { // no key may be lost, or be taken for a command of the page, while the fields change places
    if (ready && focused.current) mounted.current?.focus(...focused.current);
  }, [ready]);
  useLayoutEffect(() => { // before the next key comes
    const at = told.current.lastIndexOf(text);
    if (at >= 0) told.current.splice(0, at + 1);
    else {
      mounted.current?.set(text);
      told.current = [];
    }
  }, [text]);
  useEffect(() => mounted.current?.speak(language), [language, ready]);
  useLayoutEffect(() => {
    if (!place) return;
    const [from, to] = wordAt(text.replace(/\r\n?/g, "\n"), place.line, place.column), end = place.caret ? from : to;
    if (mounted.current) mounted.current.focus(from, end);
    else {
      plain.current?.focus();
      plain.current?.setSelectionRange(from, end);
    }
    (host.current?.hidden ? plain.current : host.current)?.scrollIntoView({ block: "nearest" });
  }, [place]);
  return (
    <div class="field">
      <span class="field-label" aria-hidden="true">{label}{ready && language !== "sql" && <span class="hint leave">{submits && "Ctrl Enter sends · "}Ctrl F searches · Esc, then Tab, leaves</span>}</span>
      {!ready && <textarea ref={plain} aria-label={label} class="mono" rows={rows} value={text} spellcheck={false} readOnly={fixed} placeholder={hint} aria-invalid={wrong || undefined} onInput={(e) => set(e.currentTarget.value)} />}
      <div ref={host} class={`text-edit ${rows > 9 ? "tall" : rows < 4 ? "low" : ""} ${wrong ? "is-wrong" : ""}`} data-editor hidden={!ready} />
    </div>
  );
}
