// Small parts of which screens are made.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { textOf } from "./api";
import { age, both, otherDay, shortAge, time, visible } from "./format";
import { now, tick } from "./state";
import { tell } from "./toasts";
import { narrow } from "./virtual";

export type Children = ComponentChildren;

// Text shows what came in a message or a name. It is never markup, and characters that deceive are shown as codes.
export function Text({ children, class: c }: { children: string; class?: string }) {
  return <bdi class={c} title={children}>{visible(children)}</bdi>;
}

const tail = 9; // characters that stay of a name that is cut

// Name is Text that is cut in the middle where it has no room: names that begin alike often end differently.
export function Name({ children, class: c = "" }: { children: string; class?: string }) {
  const letters = [...visible(children)];
  if (letters.length < 2 * tail) return <Text class={c}>{children}</Text>;
  return (
    <bdi class={`name ${c}`} title={children}>
      <span class="hidden">{letters.join("")}</span><span class="name-start" aria-hidden="true">{letters.slice(0, -tail).join("")}</span><span class="name-end" aria-hidden="true">{letters.slice(-tail).join("")}</span>
    </bdi>
  );
}

// Time shows an instant and its age. A brief one is for cells of tables: it has no age on other days, when the day takes the room.
// Its age counts from what the clock of the namespace shows, or from the computer's if real says so.
export function Time({ at, millis, ageOnly, brief, real }: { at?: string; millis?: boolean; ageOnly?: boolean | "short"; brief?: boolean; real?: boolean }) {
  if (!at) return <span class="faint">–</span>;
  const t = Date.parse(at), current = real ? tick.value : now.value;
  return (
    <time dateTime={at} title={both(t)} class="time">
      {ageOnly ? (ageOnly === "short" ? shortAge : age)(t, current) : <>{time(t, current, millis)} {!(brief && otherDay(t, current)) && <span class="faint">{age(t, current)}</span>}</>}
    </time>
  );
}

type Kind = "primary" | "danger" | "plain";

interface ButtonProps {
  kind?: Kind;
  small?: boolean;
  disabled?: boolean;
  act?: () => unknown; // what it does; the button waits for a promise and shows its failure
  type?: "button" | "submit";
  title?: string;
  children: Children;
}

export function Button({ kind = "plain", small, act, disabled, children, type = "button", title }: ButtonProps) {
  const [busy, setBusy] = useState(false);
  const click = act && (async () => {
    setBusy(true);
    try {
      await act();
    } catch (e) {
      tell(textOf(e), true);
    }
    setBusy(false);
  });
  return (
    <button type={type} class={`button ${kind} ${small ? "small" : ""}`} disabled={disabled || busy} aria-busy={busy || undefined} title={title} onClick={click}>
      {children}
    </button>
  );
}

export function Panel({ title, actions, children, flush }: { title?: Children; actions?: Children; children: Children; flush?: boolean }) {
  return (
    <section class="panel">
      {title && <header class="panel-head"><h2>{title}</h2><div class="actions">{actions}</div></header>}
      <div class={flush ? "" : "panel-body"}>{children}</div>
    </section>
  );
}

export function Empty({ title, children }: { title: string; children?: Children }) {
  return <div class="empty"><p class="empty-title">{title}</p>{children}</div>;
}

export function Problem({ text, retry, children }: { text: string; retry?: () => void; children?: Children }) {
  return (
    <div class="problem" role="alert">
      <span class="wrap">{text}</span>
      {(retry || children) && <div class="actions">{children}{retry && <Button small act={retry}>Try again</Button>}</div>}
    </div>
  );
}

export function Loading() {
  return <p class="loading" role="status">Loading…</p>;
}

export function Badge({ tone = "", children, title }: { tone?: string; children: Children; title?: string }) {
  return <span class={`badge ${tone}`} title={title}>{children}</span>;
}

// Tile is a number at a glance. A tone counts while there is something; with an address the tile leads there.
export function Tile({ name, value, tone = "", title, to }: { name: string; value: string; tone?: string; title?: string; to?: string }) {
  const inner = <><span class="tile-name">{name}</span><span class="tile-value">{value}</span></>, c = `tile ${value === "0" ? "zero" : tone}`;
  return to ? <a class={c} title={title} href={to}>{inner}</a> : <div class={c} title={title}>{inner}</div>;
}

// Facts is a list of names and values in columns.
export function Facts({ facts, dense }: { facts: [string, Children][]; dense?: boolean }) {
  return <dl class={`facts ${dense ? "dense" : ""}`}>{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

export function Tabs({ tabs, at }: { tabs: { name: string; href: string; title: string; count?: Children }[]; at: string }) {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => { // where there is no room for all, the one that is open is in sight
    const b = bar.current, open = b?.querySelector<HTMLElement>("[aria-current]");
    if (b && open) b.scrollLeft = open.offsetLeft - b.offsetLeft - (b.clientWidth - open.offsetWidth) / 2;
  }, [at]);
  return (
    <nav ref={bar} class="tabs" aria-label="Views">
      {tabs.map((t) => (
        <a key={t.name} href={t.href} class="tab" aria-current={t.name === at ? "page" : undefined}>{t.title}{t.count !== undefined && <span class="tab-count">{t.count}</span>}</a>
      ))}
    </nav>
  );
}

export function Field({ label, hint, wrong, children }: { label: string; hint?: string; wrong?: string; children: Children }) {
  return <label class="field"><span class="field-label">{label}</span>{children}{wrong ? <span class="wrong" role="alert"><Text>{wrong}</Text></span> : hint && <span class="hint">{hint}</span>}</label>;
}

// copy puts a text into the clipboard. Browsers have one only for pages of this machine or over TLS; else a field is selected for it.
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("Copied.");
}

export function CopyButton({ text, what = "Copy" }: { text: string; what?: string }) {
  return <Button small act={() => copy(text)}>{what}</Button>;
}

export function Code({ text, label }: { text: string; label?: string }) {
  return <div class="code"><pre tabIndex={0} aria-label={label ?? "Code"}>{text.split(narrow.value ? /(?<=[;=/])(?=[\w'])/ : /(?<=;)(?=\w)/).map((part, i) => <>{i > 0 && <wbr />}{part}</>)}</pre><CopyButton text={text} /></div>;
}

// Dialog is a window over the page. Escape closes it, and the focus goes back to where it was.
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: Children; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => { // before the next key, which is for the dialog
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={ref} class={wide ? "wide" : ""} aria-label={title} onCancel={(e) => { e.preventDefault(); close(); }}
      onClick={(e) => e.target === ref.current && close()}>
      <div class="dialog">
        <header><h2>{title}</h2><button type="button" class="close" aria-label="Close" onClick={close}>×</button></header>
        {children}
      </div>
    </dialog>
  );
}
