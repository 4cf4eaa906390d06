// Long lists and tables, of which only the rows in sight are in the page.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Children } from "./kit";

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
export function Rows<T>({ items, height, row, label, role, class: c, at, atId, onKeyDown, onFocus }: {
  items: T[]; height: number; row: (item: T, i: number) => Children; label: string; role?: "list" | "tree"; class?: string;
  at?: number; atId?: string; // the row that is active, which is kept in sight, and the id of its element
  onKeyDown?: (e: KeyboardEvent) => void; onFocus?: () => void;
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
    <div ref={box} class={`rows ${c ?? ""}`} role={role ?? "list"} aria-label={label} tabIndex={0} aria-activedescendant={seen ? atId : undefined} onKeyDown={onKeyDown} onFocus={onFocus}>
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
  right?: boolean;
  yields?: number; // goes where there is no room for all columns, those with the highest number first; without one it stays
}

const rowHeight = 32;

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

// Table is a table whose rows may be many. A row that can be opened has a link or button of its own in a cell.
// The row at stays in sight when at changes.
export function Table<T>({ items, columns: all, id, label, open, selected, end, most, at = -1 }: {
  items: T[]; columns: Column<T>[]; id: (item: T) => string | number; label: string; open?: (item: T) => void; selected?: (item: T) => boolean; end?: () => void; most?: number; at?: number;
}) {
  const { box, from, to, wide } = useRows(items.length, rowHeight);
  const columns = fitting(all, wide);
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
  const grid = { gridTemplateColumns: columns.map((c) => c.width).join(" ") };
  return (
    <div ref={box} class="table-box" tabIndex={0} role="region" aria-label={label} style={most ? { maxHeight: (most + 1) * rowHeight + 4 + "px" } : undefined}>
      <div role="table" aria-label={label} aria-rowcount={items.length + 1} class="table" style={{ minWidth: least(columns) + "px" }}>
        <div role="rowgroup" class="table-head">
          <div role="row" class="tr" style={grid}>
            {columns.map((c) => <div role="columnheader" key={c.name} class={`th ${c.right ? "right" : ""}`}>{c.title}</div>)}
          </div>
        </div>
        <div role="rowgroup" class="table-all" style={{ height: items.length * rowHeight + "px" }}>
          {items.slice(from, to).map((item, i) => (
            <div role="row" key={id(item)} class={`tr ${open ? "opens" : ""} ${selected?.(item) ? "selected" : ""}`} aria-rowindex={from + i + 2}
              style={{ ...grid, top: (from + i) * rowHeight + "px" }} onClick={open && ((e) => (e.target as Element).closest("a,button,input") || open(item))}>
              {columns.map((c) => <div role="cell" key={c.name} class={`td ${c.right ? "right" : ""}`}>{c.show(item)}</div>)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
