// A field for a long text. It is a plain one until the editor, a script of its own, has come; it stays one if that does not come.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Mounted } from "./editor";

let script: Promise<typeof import("./editor")> | undefined;

// load loads the editor once.
function load() {
  script ??= import("./editor.js");
  script.catch(() => (script = undefined)); // the next field tries again
  return script;
}

export const looksLikeJSON = (text: string): boolean => /^\s*[[{"]/.test(text);

export function TextEdit({ label, text, set, json, hint, rows = 12, focus = false, submits = false }: { label: string; text: string; set: (text: string) => void; json: boolean; hint?: string; rows?: number; focus?: boolean; submits?: boolean }) {
  const host = useRef<HTMLDivElement>(null), plain = useRef<HTMLTextAreaElement>(null), mounted = useRef<Mounted>(undefined);
  const [ready, setReady] = useState(false), focused = useRef<[number, number]>(undefined); // what was selected in the plain field, if it had the focus
  const told = useRef<string[]>([]); // by the editor, and not yet come back as text: what comes back late must not undo what was typed since
  const latest = useRef({ text, set, json });
  latest.current = { text, set, json };
  useLayoutEffect(() => {
    if (focus) plain.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    let ended = false;
    load().then((editor) => {
      if (ended || !host.current) return;
      const p = plain.current;
      if (p && document.activeElement === p) focused.current = [p.selectionStart, p.selectionEnd];
      mounted.current = editor.mount(host.current, { text: latest.current.text, label, hint, json: latest.current.json, submits, changed: (t) => { told.current.push(t); latest.current.set(t); } });
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
  useEffect(() => {
    const at = told.current.lastIndexOf(text);
    if (at >= 0) told.current.splice(0, at + 1);
    else {
      mounted.current?.set(text);
      told.current = [];
    }
  }, [text]);
  useEffect(() => mounted.current?.json(json), [json, ready]);
  return (
    <div class="field">
      <span class="field-label" aria-hidden="true">{label}{ready && <span class="hint leave">{submits && "Ctrl Enter sends · "}Ctrl F searches · Esc, then Tab, leaves</span>}</span>
      {!ready && <textarea ref={plain} aria-label={label} class="mono" rows={rows} value={text} spellcheck={false} placeholder={hint} onInput={(e) => set(e.currentTarget.value)} />}
      <div ref={host} class={`text-edit ${rows > 9 ? "tall" : ""}`} data-editor hidden={!ready} />
    </div>
  );
}
