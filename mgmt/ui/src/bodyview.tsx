// The body of a message, in the forms in which it can be shown.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, number, plural, visible } from "./format";
import { Fold, linesOfJSON, linesOfXML, LongText, type Line } from "./fold";
import { formatted, parse as parseJSON } from "./json";
import { Icon } from "./icons";
import { Button, copy, Text, type Children } from "./kit";
import { bytesOf, hex, typed, type Message, type Value } from "./message";
import { formatted as formattedXML, parse as parseXML } from "./xml";

interface View {
  name: string;
  title?: string;
  show: (all?: boolean) => Children;
  text?: () => string; // to copy and to search
  folds?: boolean;
}

const small = 65_536; // characters of a text that may be unfolded as a whole

function json(m: Message, text: string): View | undefined {
  const p = parseJSON(text, m.bodyCut);
  return p && { name: "JSON", show: (all) => <Fold lines={[linesOfJSON(p)]} label="Body" all={all} />, text: () => formatted(text) ?? text, folds: p.root.items !== undefined && text.length <= small };
}

function xml(m: Message, text: string): View | undefined {
  const list = parseXML(text, m.bodyCut);
  return list && { name: "XML", show: (all) => <Fold lines={linesOfXML(list)} label="Body" all={all} />, text: () => formattedXML(list), folds: text.length <= small };
}

// lineOf makes a line of a value of AMQP, with its type.
function lineOf(v: Value, name?: string): Line {
  const { type, text } = typed(v);
  const held = v !== null && typeof v === "object" ? Object.values(v)[0] as unknown : undefined;
  const before = (name === undefined ? "" : name + " ") + type + " ";
  const many = (parts: Line[]): Line => ({ name: before, head: parts.length ? "" : "empty", tone: "faint", tail: "", count: parts.length, parts: () => parts });
  if (type === "list" && Array.isArray(held)) return many(held.map((x, i) => lineOf(x, String(i))));
  if (type === "map" && Array.isArray(held)) return many(held.map((pair: [Value, Value]) => lineOf(pair[1], typed(pair[0]).text)));
  if (type === "array") return many(((held as { values?: Value[] }).values ?? []).map((x, i) => lineOf(x, String(i))));
  if (type === "described") {
    const d = held as { descriptor: Value; value: Value };
    return many([lineOf(d.descriptor, "descriptor"), lineOf(d.value, "value")]);
  }
  return { name: before, head: text, tone: typeof v === "string" ? "string" : "number", tail: "", count: 0, parts: () => [] };
}

// types shows of which sections the body is, and the types of its values.
function types(m: Message): View | undefined {
  const size = bytes(m.bodyBytes ?? 0);
  const data = (i: number, text: string): Line => ({ name: `data section${i ? " " + i : ""} binary `, head: text, tone: "faint", tail: "", count: 0, parts: () => [] });
  let lines: Line[];
  if (m.bodyValue !== undefined) lines = [lineOf(m.bodyValue, "value section")];
  else if (m.bodySequence) lines = m.bodySequence.map((s, i) => lineOf({ list: s ?? [] }, `sequence section ${i + 1}`));
  else if (m.bodySections) lines = m.bodySections.map((s, i) => data(i + 1, bytes(Math.floor((s.length * 3) / 4) - (/=*$/.exec(s)![0].length))));
  else if (m.body !== undefined || m.bodyBase64 !== undefined) lines = [data(0, `${size}, ${m.body !== undefined ? "a text in UTF-8" : "not a text"}`)];
  else return undefined;
  const raw = m.bodyValue ?? m.bodySequence;
  return { name: "Types", title: "AMQP sections and types", show: (all) => <Fold lines={lines} label="Body" all={all} />, text: () => (raw === undefined ? lines.map((l) => l.name + l.head).join("\n") : JSON.stringify(raw, null, 2)), folds: raw !== undefined };
}

function Hex({ data }: { data: Uint8Array }) {
  const step = 16_384;
  const [shown, show] = useState(step);
  return <pre class="body hex" tabIndex={0} aria-label="Body">{hex(data, shown)}{data.length > shown && <>{"\n"}<button type="button" class="link" onClick={() => show(shown + step)}>{number(data.length - shown)} more bytes: show more</button></>}</pre>;
}

const pictures = /^image\/(png|jpeg|gif|webp|bmp|avif)\b/i; // none that has scripts or asks for other files

// Picture draws a body that is a picture.
function Picture({ data, type }: { data: Uint8Array; type: string }) {
  const canvas = useRef<HTMLCanvasElement>(null), [size, setSize] = useState(""), [wrong, setWrong] = useState("");
  useEffect(() => {
    let ended = false;
    createImageBitmap(new Blob([data as BlobPart], { type })).then((b) => {
      const c = canvas.current;
      if (ended || !c) return;
      c.width = b.width;
      c.height = b.height;
      c.getContext("2d")?.drawImage(b, 0, 0);
      setSize(`${number(b.width)} × ${number(b.height)} pixels`);
    }, () => !ended && setWrong(`The browser cannot show this as ${type}.`));
    return () => { ended = true; };
  }, [data, type]);
  return wrong ? <p class="hint"><Text>{wrong}</Text></p> : <figure class="picture"><canvas ref={canvas} role="img" aria-label={`Picture, ${size}`} /><figcaption class="hint">{size}</figcaption></figure>;
}

function picture(m: Message): View | undefined {
  const type = m.contentType ?? "";
  if (!pictures.test(type) || m.bodyCut || (m.bodyBase64 === undefined && m.body === undefined)) return undefined;
  const data = bytesOf(m);
  return { name: "Picture", show: () => <Picture data={data} type={type} /> };
}

const mostFound = 200; // matches
const around = 120; // characters on each side of a match

interface Match {
  line: string;
  row: number;
  at: number;
}

function matches(text: string, wanted: string): Match[] {
  const low = wanted.toLowerCase();
  return text.split("\n").flatMap((line, row) => {
    const list: Match[] = [], lower = line.toLowerCase();
    for (let at = lower.indexOf(low); at >= 0; at = lower.indexOf(low, at + low.length)) list.push({ line, row, at });
    return list;
  });
}

// Found are the places of a body that have a text.
function Found({ text, wanted }: { text: string; wanted: string }) {
  const found = useMemo(() => matches(text, wanted), [text, wanted]);
  if (found.length === 0) return <p class="hint" role="status">The body does not contain this text.</p>;
  return (
    <>
      <p class="hint" role="status">{plural(found.length, "match", "matches")}{found.length > mostFound && `, the first ${mostFound} are shown`}</p>
      <pre class="body" tabIndex={0} aria-label="Matches">{found.slice(0, mostFound).map(({ line, row, at }, i) => {
        const from = Math.max(0, at - around), end = at + wanted.length;
        return <div key={i}><span class="faint">{row + 1} </span>{from > 0 && "…"}{visible(line.slice(from, at))}<mark>{visible(line.slice(at, end))}</mark>{visible(line.slice(end, end + around))}{end + around < line.length && "…"}</div>;
      })}</pre>
    </>
  );
}

// views are the forms in which the body can be shown, the best one first: that of the content type, unless the content is none.
function views(m: Message): View[] {
  const list: View[] = [], text = m.body, kind = m.contentType ?? "", image = picture(m);
  if (image) list.push(image);
  if (text !== undefined) {
    const plain: View = { name: "Text", show: () => <LongText text={text} label="Body" />, text: () => text };
    const asJSON = json(m, text), asXML = asJSON ? undefined : xml(m, text);
    const structured = [asJSON, asXML].filter((v) => v !== undefined);
    if (structured.length > 0 && (/json|xml/i.test(kind) || (!/^text\/(?!html)/i.test(kind) && /^\s*[<{[]/.test(text)))) list.push(...structured, plain);
    else list.push(plain, ...structured);
  }
  const amqp = types(m);
  if (amqp && text === undefined && m.bodyBase64 === undefined) list.push(amqp);
  if (text !== undefined || m.bodyBase64 !== undefined || m.bodySections) {
    const data = bytesOf(m);
    list.push({ name: "Hex", show: () => <Hex data={data} />, text: () => hex(data, data.length) });
  }
  if (m.bodyBase64 !== undefined) list.push({ name: "Base64", show: () => <LongText text={m.bodyBase64!} label="Body" />, text: () => m.bodyBase64! });
  if (amqp && !list.includes(amqp)) list.push(amqp);
  return list;
}

export function Body({ m, download }: { m: Message; download: () => Promise<void> }) {
  const all = useMemo(() => views(m), [m.sequenceNumber, m.body, m.bodyBase64, m.bodyCut, m.contentType]);
  const [chosen, choose] = useState(""), [folds, fold] = useState<boolean>(), [wanted, want] = useState("");
  const v = all.find((x) => x.name === chosen) ?? all[0];
  const shown = bytesOf(m).length, broken = m.body !== undefined && !m.bodyCut && /json/i.test(m.contentType ?? "") && !all.some((x) => x.name === "JSON");
  return (
    <section class="part">
      <div class="part-head">
        <h3>Body <span class="faint">{bytes(m.bodyBytes ?? 0)}</span></h3>
        <div class="chips" role="group" aria-label="Form of the body">{all.map((x) => <button key={x.name} type="button" class="chip" aria-pressed={x === v} title={x.title} onClick={() => choose(x.name)}>{x.name}</button>)}</div>
        {v?.text && <input class="find" type="search" aria-label="Find in the body" placeholder="Find" value={wanted} spellcheck={false} onInput={(e) => want(e.currentTarget.value)} />}
        <div class="actions">{v?.folds && !wanted && <Button small act={() => fold(folds === false)}>{folds === false ? "Unfold" : "Fold"}</Button>}
        {v?.text && <Button small title="Copy the body" act={() => copy(v.text!())}><Icon name="copy" /></Button>}
        <Button small title="Download the body" act={download}><Icon name="download" /></Button></div>
      </div>
      {m.bodyCut && <p class="notice" role="note">{shown > 0 ? <>These are the first {bytes(shown)} of {bytes(m.bodyBytes ?? 0)}.</> : <>The body has {bytes(m.bodyBytes ?? 0)}, too much to show a part of it.</>} <button type="button" class="link" onClick={() => void download()}>Download all of it</button></p>}
      {broken && <p class="notice" role="note">The content type says JSON, but the body is not valid JSON.</p>}
      {v ? <div key={v.name}>{wanted && v.text ? <Found text={v.text()} wanted={wanted} /> : v.show(folds)}</div> : !m.bodyCut && <p class="hint">The message has no body.</p>}
    </section>
  );
}
