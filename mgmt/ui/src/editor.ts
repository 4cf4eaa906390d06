// The editor of texts. It is a script of its own, which the page loads when a text is edited first; nothing else may import it,
// and it imports nothing that has state.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, linter } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { mistakeAround } from "./json";

export interface Settings {
  text: string;
  label: string;
  hint?: string; // shown while it is empty
  language: Language;
  fixed?: boolean; // it can be searched and copied, and not changed
  code?: boolean; // its lines are not wrapped on a phone
  submits: boolean; // Ctrl Enter is for the form around it
  changed: (text: string) => void; // by the user, not by set
}

export type Language = "json" | "sql" | "text";

export interface Mounted {
  set: (text: string) => void;
  speak: (language: Language) => void;
  focus: (from: number, to: number) => void; // with that selected
  end: () => void;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--violet)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", color: "var(--ink)", background: "var(--card)", borderRadius: "6px", flex: "1", minHeight: "0" },
  "&.cm-focused": { outline: "2px solid transparent", outlineOffset: "-2px" } /* the element around it shows the focus */,
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--ink-soft)", border: "0", borderRadius: "6px 0 0 6px" },
  ".cm-placeholder": { color: "var(--ink-soft)" },
  ".cm-panels": { background: "var(--raised)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { fontFamily: "var(--sans)" },
  ".cm-panel.cm-search label": { fontSize: "12.5px" },
  ".cm-textfield": { background: "var(--card)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "5px", fontSize: "13px" },
  ".cm-button": { background: "var(--card)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "5px", fontSize: "12.5px", backgroundImage: "none" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--here)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "var(--bad-fill)" },
  ".cm-searchMatch": { background: "var(--warn-fill)" },
  ".cm-searchMatch-selected": { background: "var(--here)", outline: "1px solid var(--accent)" },
  ".cm-selectionMatch": { background: "var(--hover)" },
  // The policy of the page allows no images but its own, and the marks are images.
  ".cm-lint-marker-error": { content: "normal", background: "var(--bad)", borderRadius: "50%", width: "9px", height: "9px", margin: "4px auto 0" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-active": { background: "var(--bad-fill)" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "13px" },
});

// checked reports where a text is no JSON.
const checked = linter((view) => {
  const text = view.state.doc.toString();
  const at = text.trim() === "" ? undefined : mistakeAround(text);
  if (at === undefined) return [];
  const from = Math.min(at, text.trimEnd().length - 1), line = view.state.doc.lineAt(from);
  const what = at >= text.trimEnd().length ? "it ends too early" : `${JSON.stringify(text[at])} is unexpected`;
  return [{ from, to: from + 1, severity: "error", message: `Not JSON: ${what}, in line ${line.number}, column ${from - line.from + 1}.` }];
}, { delay: 300 });

const words = /^(and|or|not|in|like|escape|is|null|exists|true|false|set|remove|between)$/i;

// sql is the language of filters and actions of rules.
const sql = StreamLanguage.define<null>({
  token(s) {
    if (s.match(/^'(?:[^']|'')*'?/)) return "string";
    if (s.match(/^"(?:[^"]|"")*"?/) || s.match(/^\[[^\]]*\]?/) || s.match(/^@\w+/)) return "propertyName";
    if (s.match(/^\d[\d.]*(?:e[-+]?\d+)?/i)) return "number";
    if (s.match(/^[a-z_][\w.]*/i)) return words.test(s.current()) ? "keyword" : "propertyName";
    s.next();
    return null;
  },
});

const ofTexts = [lineNumbers(), keymap.of([indentWithTab])]; // conditions are short: there Tab goes to the next field
const languages: Record<Language, Extension> = { json: [json(), checked, lintGutter(), ofTexts], sql, text: ofTexts };

// selected returns where the selection begins and ends. The browser knows it before the editor has seen that it has changed;
// one that does not tell what is selected in a shadow root leaves the editor's own.
function selected(view: EditorView): [number, number] {
  const s = (view.root as { getSelection?: () => Selection | null }).getSelection?.();
  const inside = (n: Node | null): n is Node => n !== null && view.contentDOM.contains(n);
  if (!s || !inside(s.anchorNode) || !inside(s.focusNode)) return [view.state.selection.main.from, view.state.selection.main.to];
  const a = view.posAtDOM(s.anchorNode, s.anchorOffset), b = view.posAtDOM(s.focusNode, s.focusOffset);
  return [Math.min(a, b), Math.max(a, b)];
}

// typedOver puts a text in the place of a selection. The browser would keep the colours of what was selected as a style of the new text, which the policy of the page refuses.
const typedOver = EditorView.domEventHandlers({
  beforeinput: (e, view) => {
    if (!["insertText", "insertReplacementText"].includes(e.inputType) || !e.data || view.composing) return false;
    const [from, to] = selected(view);
    if (from === to) return false;
    view.dispatch({ changes: { from, to, insert: e.data }, selection: { anchor: from + e.data.length }, userEvent: "input.type", scrollIntoView: true });
    e.preventDefault();
    return true;
  },
});

const narrow = matchMedia("(max-width: 700px)"); // too narrow for code with its indentation, which is scrolled there

const patience = 2000; // ms in which Tab after Escape leaves, and in which a second Escape does what it does elsewhere

// mount puts an editor into an element. It lives in a shadow root, where its styles are adopted sheets, which the policy of the page allows.
export function mount(host: HTMLElement, s: Settings): Mounted {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const language = new Compartment();
  let escaped = -patience;
  const onKey = (e: Event) => { // after the editor's own, which lets Tab go after Escape
    if ((e as KeyboardEvent).key !== "Escape") return;
    if (e.timeStamp - escaped > patience) e.preventDefault(); // a dialog around stays open
    escaped = e.timeStamp;
  };
  root.addEventListener("keydown", onKey);
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      doc: s.text,
      extensions: [
        history(), bracketMatching(), indentOnInput(), indentUnit.of("  "), highlightSelectionMatches(), search({ top: true }),
        syntaxHighlighting(colours), look, typedOver, s.code && narrow.matches ? [] : EditorView.lineWrapping, keymap.of([...(s.submits ? [{ key: "Mod-Enter", run: () => true }] : []), ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
        language.of(languages[s.language]), placeholder(s.hint ?? ""), EditorState.readOnly.of(s.fixed === true),
        EditorView.contentAttributes.of({ "aria-label": s.label, tabindex: "0", ...(s.language === "sql" ? {} : { "aria-description": "Press Escape, then Tab, to leave it" }), spellcheck: "false" }),
        EditorView.updateListener.of((u) => u.transactions.some((t) => t.docChanged && !t.annotation(Transaction.remote)) && s.changed(u.state.doc.toString())),
      ],
    }),
  });
  return {
    set: (text) => { if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, annotations: Transaction.remote.of(true) }); },
    speak: (to) => view.dispatch({ effects: language.reconfigure(languages[to]) }),
    focus: (anchor, head) => {
      view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
      view.focus();
    },
    end: () => {
      root.removeEventListener("keydown", onKey);
      view.destroy();
    },
  };
}
