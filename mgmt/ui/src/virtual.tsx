// Long lists and tables, of which only the rows in sight are in the page.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Children } from "./kit";

const phone = matchMedia("(max-width: 700px)");

// narrow reports whether the window has no room for tables.
export const narrow = signal(phone.matches);
phone.addEventListener("change", () => (narrow.value = phone.matches));

const spare = 8; // rows above and below
const padding = 8; // px that a box has around its rows

// useRows says which rows of a box that scrolls are in sight.
function useRows(count: number, height: number) {
  const box = useRef<HTMLDivElement>(null);
  const [at, set] = useState({ top: 0, tall: 600, wide: 0 });
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    const read = () => set((old) => (old.top === b.scrollTop && old.tall === b.clientHeight && old.wide === b.clientWidth ? old : { top: b.scrollTop, tall: b.clientHeight, wide: b.clientWidth }));
    read();
    const watch = new ResizeObserver(read);
    watch.observe(b);
    b.addEventListener("scroll", read, { passive: true });
    return () => {
      watch.disconnect();
      b.removeEventListener("scroll", read);
    };
  }, []);
  const from = Math.max(0, Math.floor(at.top / height) - spare);
  const to = Math.min(count, Math.ceil((at.top + at.tall) / height) + spare);
  return { box, from, to, wide: at.wide };
}

// Rows is a list of rows of one height, in px.
export function Rows<T>({ items, height, row, label, role, class: c, at, atId, onKeyDown, onFocus, onBlur }: {
  items: T[]; height: number; row: (item: T, i: number) => Children; label: string; role?: "list" | "tree"; class?: string;
  at?: number; atId?: string; // the row that is active, which is kept in sight, and the id of its element
  onKeyDown?: (e: KeyboardEvent) => void; onFocus?: () => void; onBlur?: () => void;
}) {
  const { box, from, to } = useRows(items.length, height);
  useLayoutEffect(() => {
    const b = box.current;
    if (!b || at === undefined) return;
    if (at * height < b.scrollTop) b.scrollTop = at * height;
    else if ((at + 1) * height > b.scrollTop + b.clientHeight - padding) b.scrollTop = (at + 1) * height - b.clientHeight + padding;
  }, [at, height]);
  const seen = at !== undefined && at >= from && at < to;
  return (
    <div ref={box} class={`rows ${c ?? ""}`} role={role ?? "list"} aria-label={label} tabIndex={0} aria-activedescendant={seen ? atId : undefined} onKeyDown={onKeyDown} onFocus={onFocus} onBlur={onBlur}>
      <div class="rows-all" role="presentation" style={{ height: items.length * height + "px" }}>
        <div class="rows-seen" role="presentation" style={{ top: from * height + "px" }}>
          {items.slice(from, to).map((item, i) => row(item, from + i))}
        </div>
      </div>
    </div>
  );
}

export interface Column<T> {
  name: string;
  title: string;
  width: string; // of a CSS grid
  show: (item: T) => Children;
  head?: Children; // in the place of the title
  right?: boolean;
  sort?: "ascending" | "descending" | "none";
  onSort?: () => void;
  yields?: number; // goes where there is no room for all columns, those with the highest number first; without one it stays
}

const oneLine = 32, twoLines = 54; // px of a row

const least = <T,>(columns: Column<T>[]) => columns.reduce((n, c) => n + Number(/\d+/.exec(c.width)?.[0] ?? 0), 20);

// fitting leaves out columns until the rest has room; a width of 0 is not known yet.
function fitting<T>(columns: Column<T>[], wide: number): Column<T>[] {
  let left = columns;
  while (wide > 0 && least(left) > wide) {
    const first = left.reduce<Column<T> | undefined>((a, c) => (c.yields && c.yields > (a?.yields ?? 0) ? c : a), undefined);
    if (!first) break;
    left = left.filter((c) => c !== first);
  }
  return left;
}

function Head<T>({ c }: { c: Column<T> }) {
  const arrow = c.sort === "ascending" ? " ↑" : c.sort === "descending" ? " ↓" : "";
  return (
    <div role="columnheader" class={`th ${c.right ? "right" : ""}`} aria-sort={c.onSort && c.sort}>
      {c.head ?? (c.onSort ? <button type="button" class="sort" title={c.title} onClick={c.onSort}>{c.title}{arrow}</button> : c.title || <span class="hidden">{c.name}</span>)}
    </div>
  );
}

// Table is a table whose rows may be many. A row that can be opened has a link or button of its own in a cell.
// The row at stays in sight when at changes. brief is what a row shows in two lines where the window is narrow.
export function Table<T>({ items, columns: all, id, label, open, selected, end, most, at = -1, brief }: {
  items: T[]; columns: Column<T>[]; id: (item: T) => string | number; label: string; open?: (item: T) => void; selected?: (item: T) => boolean; end?: () => void; most?: number; at?: number; brief?: (item: T) => Children;
}) {
  const short = narrow.value ? brief : undefined, rowHeight = short ? twoLines : oneLine;
  const { box, from, to, wide } = useRows(items.length, rowHeight);
  const columns = fitting(all, wide), heads = short ? all.filter((c) => c.head) : columns;
  useLayoutEffect(() => {
    const b = box.current;
    if (!b || at < 0) return;
    const top = at * rowHeight, tall = b.clientHeight - 2 * rowHeight; // without the head, and the row itself
    if (top < b.scrollTop) b.scrollTop = top;
    else if (top > b.scrollTop + tall) b.scrollTop = top - tall;
  }, [at]);
  useLayoutEffect(() => {
    if (end && to >= items.length - 10) end();
  });
  const grid = short ? undefined : { gridTemplateColumns: columns.map((c) => c.width).join(" ") };
  const press = (item: T) => open && ((e: Event) => { if (!(e.target as Element).closest("a,button,input")) open(item); });
  return (
    <div ref={box} class="table-box" tabIndex={0} role="region" aria-label={label} style={most ? { maxHeight: (most + 1) * rowHeight + 4 + "px" } : undefined}>
      <div role="table" aria-label={label} aria-rowcount={items.length + 1} class="table" style={short ? undefined : { minWidth: least(columns) + "px" }}>
        <div role="rowgroup" class={`table-head ${heads.length === 0 ? "hidden" : ""}`}>
          <div role="row" class={`tr ${short ? "two" : ""}`} style={grid}>
            {heads.length > 0 ? heads.map((c) => <Head key={c.name} c={c} />) : <div role="columnheader">{label}</div>}
          </div>
        </div>
        <div role="rowgroup" class="table-all" style={{ height: items.length * rowHeight + "px" }}>
          {items.slice(from, to).map((item, i) => (
            <div role="row" key={id(item)} class={`tr ${short ? "two" : ""} ${open ? "opens" : ""} ${selected?.(item) ? "selected" : ""}`} aria-rowindex={from + i + 2}
              style={{ ...grid, top: (from + i) * rowHeight + "px" }} onClick={press(item)}>
              {short ? <div role="cell" class="brief">{short(item)}</div> : columns.map((c) => <div role="cell" key={c.name} class={`td ${c.right ? "right" : ""}`}>{c.show(item)}</div>)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
