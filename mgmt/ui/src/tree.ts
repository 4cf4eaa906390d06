// Keys of a tree, as the pattern of WAI-ARIA for trees says. The rows in sight are a part of the tree only, so the focus stays on the tree itself, which
// names the row that is active.

// Branch is a row of a tree as its keys see it.
export interface Branch {
  key: string;
  level: number; // 1: a root
  open?: boolean; // undefined: it has nothing below it
}

// Step tells the effect of a key: it makes a row active, folds or unfolds the active one, or opens it.
export interface Step {
  to?: number;
  fold?: boolean;
  open?: boolean;
}

// stepOf returns what a key does when the row at is active; undefined: nothing of the tree's.
export function stepOf(rows: readonly Branch[], at: number, key: string): Step | undefined {
  const row = rows[at];
  if (!row) return undefined;
  switch (key) {
    case "ArrowDown":
      return { to: Math.min(at + 1, rows.length - 1) };
    case "ArrowUp":
      return { to: Math.max(at - 1, 0) };
    case "Home":
      return { to: 0 };
    case "End":
      return { to: rows.length - 1 };
    case "ArrowRight":
      if (row.open === undefined) return {};
      return row.open ? { to: Math.min(at + 1, rows.length - 1) } : { fold: true };
    case "ArrowLeft": {
      if (row.open) return { fold: true };
      let up = at;
      while (up > 0 && rows[up]!.level >= row.level) up--;
      return { to: rows[up]!.level < row.level ? up : at };
    }
    case "Enter":
    case " ":
      return { open: true };
  }
  return undefined;
}
