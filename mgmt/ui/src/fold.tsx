// A tree of lines of which parts can be folded. Only what is unfolded is in the page, a hundred lines of each part at a time.
import { useState } from "preact/hooks";
import { number, visible } from "./format";
import type { Node, Parsed } from "./json";
import type { Element } from "./xml";

export interface Line {
  name?: string; // before the value
  head: string;
  tone: string;
  tail: string; // after its parts, if it has any
  count: number;
  parts: () => Line[];
}

const step = 100; // lines
const longest = 2000; // characters of a text
const levels = 50; // that unfold at once: the page is drawn by calls within calls
const lowest = 150; // level that is shown
const openFirst = 30; // parts that unfold by themselves below the first level

// linesOfJSON makes the first line of a document.
export function linesOfJSON({ text, root }: Parsed): Line {
  const of = (n: Node, name?: string): Line => {
    const common = { name: name === undefined ? undefined : name + ": ", count: n.items?.length ?? 0, parts: () => n.items!.map((x, i) => of(x, n.names?.[i])) };
    if (!n.items) return { ...common, head: text.slice(n.from, n.to) + (n.cut ? "…" : ""), tone: n.kind, tail: "" };
    const [open, close] = n.kind === "object" ? "{}" : "[]";
    return { ...common, head: n.items.length ? open! : open! + close!, tone: "", tail: n.cut ? "…" : close! };
  };
  return of(root);
}

export function linesOfXML(list: Element[]): Line[] {
  return list.map((e) => {
    const only = e.items.length === 1 && e.items[0]!.items.length === 0 && !e.items[0]!.head.startsWith("<") ? e.items[0]!.head : undefined;
    const tone = e.head.startsWith("<!--") ? "faint" : e.head.startsWith("<") ? "name" : "string";
    if (only !== undefined) return { head: e.head + only + (e.tail ?? "…"), tone, tail: "", count: 0, parts: () => [] };
    return { head: e.items.length ? e.head : e.head + (e.tail ?? ""), tone, tail: e.tail ?? "…", count: e.items.length, parts: () => linesOfXML(e.items) };
  });
}

function Value({ text, tone }: { text: string; tone: string }) {
  const [all, show] = useState(text.length <= longest);
  return <><span class={`fold-${tone || "mark"}`}>{visible(all ? text : text.slice(0, longest))}</span>{!all && <button type="button" class="link" onClick={() => show(true)}>… {number(text.length - longest)} more characters</button>}</>;
}

interface Place {
  depth: number;
  all?: boolean;
  until: number; // the level from which parts are folded, even if all are unfolded
}

function Part({ line, depth, all, until }: { line: Line } & Place) {
  const [open, setOpen] = useState(depth === 0 || (depth < until && (all ?? (depth < 3 && line.count <= openFirst))));
  const [next, setNext] = useState(until);
  const name = line.name && <span class="fold-name">{visible(line.name)}</span>;
  if (line.count === 0) return <li class="fold-line">{name}<Value text={line.head} tone={line.tone} /></li>;
  if (depth >= lowest) return <li class="fold-line">{name}{visible(line.head.slice(0, longest))} <span class="faint">deeper levels are in the other forms of the body</span></li>;
  const turn = () => { setOpen(!open); setNext(depth + levels); };
  return (
    <li>
      <button type="button" class="fold-head" aria-expanded={open} onClick={turn}>
        {name}<span class={`fold-${line.tone || "mark"}`}>{visible(line.head.slice(0, longest))}</span>{!open && <span class="faint"> {line.tail === "…" ? `${number(line.count)} and more` : `${number(line.count)} … ${visible(line.tail)}`}</span>}
      </button>
      {open && <><Parts list={line.parts()} depth={depth + 1} all={all} until={next} /><div class="fold-line fold-mark">{visible(line.tail)}</div></>}
    </li>
  );
}

function Parts({ list, depth, all, until }: { list: Line[] } & Place) {
  const [shown, show] = useState(step);
  return (
    <ul class="fold">
      {list.slice(0, shown).map((line, i) => <Part key={i} line={line} depth={depth} all={all} until={until} />)}
      {list.length > shown && <li class="fold-line"><button type="button" class="link" onClick={() => show(shown + step)}>{number(Math.min(step, list.length - shown))} more of {number(list.length - shown)}</button></li>}
    </ul>
  );
}

// Fold shows lines. all says whether all parts are folded or unfolded at first; undefined: as fits their number.
export function Fold({ lines, label, all }: { lines: Line[]; label: string; all?: boolean }) {
  return <div class="body folds" tabIndex={0} role="region" aria-label={label}><Parts key={String(all)} list={lines} depth={0} all={all} until={levels} /></div>;
}

// LongText shows a text, a part of it at a time.
export function LongText({ text, label }: { text: string; label: string }) {
  const piece = 65_536;
  const [shown, show] = useState(piece);
  return (
    <pre class="body" tabIndex={0} aria-label={label}>{visible(text.slice(0, shown))}{text.length > shown && <>{"\n"}<button type="button" class="link" onClick={() => show(shown + piece)}>{number(text.length - shown)} more characters: show more</button></>}</pre>
  );
}
