// JSON with its numbers and names as they are written, where the browser's own parser would round and reorder them.
export interface Node {
  from: number; // place in the text
  to: number;
  kind: "object" | "array" | "string" | "number" | "word";
  names?: string[]; // of an object, as they are written, with quotes
  items?: Node[];
  cut?: boolean; // the text ends within it
}

export interface Parsed {
  text: string;
  root: Node;
}

const deepest = 400;
const scalar = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.eE+\-\w])|(?:true|false|null)(?!\w)/y;
const space = /[ \t\r\n]*/y;

// parse reads a text; undefined if it is no JSON. Of a clipped text it returns what there is.
export const parse = (text: string, clipped = false): Parsed | undefined => run(text, clipped).parsed;

// mistake returns the place at which a text stops being JSON; undefined if it is JSON.
export function mistake(text: string): number | undefined {
  const { parsed, at } = run(text, false);
  return parsed ? undefined : at;
}

// mistakeAround is mistake for a text with placeholders: they count as values, so they are numbers of the same length to the parser.
export const mistakeAround = (text: string): number | undefined => mistake(text.replace(/\{\{\w+\}\}/g, (p) => "1".repeat(p.length)));

function run(text: string, clipped: boolean): { parsed?: Parsed; at: number } {
  let at = 0, ended = false;
  const skip = () => {
    space.lastIndex = at;
    space.exec(text);
    at = space.lastIndex;
    if (at >= text.length) ended = true;
  };
  const word = (): Node | undefined => {
    scalar.lastIndex = at;
    const m = scalar.exec(text);
    if (!m) {
      if (!clipped || (text[at] !== '"' && text.length - at > 30)) return undefined;
      ended = true; // the text ends within the value
      const from = at;
      at = text.length;
      return { from, to: at, kind: text[from] === '"' ? "string" : "word", cut: true };
    }
    const from = at, first = text[at]!;
    at = scalar.lastIndex;
    return { from, to: at, kind: first === '"' ? "string" : /[-\d]/.test(first) ? "number" : "word" };
  };
  const value = (depth: number): Node | undefined => {
    skip();
    const open = text[at];
    if (open !== "{" && open !== "[") return ended ? undefined : word();
    if (depth > deepest) return undefined;
    const node: Node = { from: at, to: 0, kind: open === "{" ? "object" : "array", items: [] };
    if (open === "{") node.names = [];
    const close = open === "{" ? "}" : "]";
    at++;
    const cut = () => {
      node.cut = true;
      node.to = text.length;
      if (node.names) node.names.length = node.items!.length;
      return clipped ? node : undefined;
    };
    skip();
    if (text[at] === close) {
      node.to = ++at;
      return node;
    }
    for (;;) {
      if (ended) return cut();
      if (node.names) {
        const name = text[at] === '"' ? word() : undefined;
        if (!name) return undefined;
        node.names.push(text.slice(name.from, name.to));
        skip();
        if (ended) return cut();
        if (text[at] !== ":") return undefined;
        at++;
        skip();
        if (ended) return cut();
      }
      const item = value(depth + 1);
      if (!item) return undefined;
      node.items!.push(item);
      skip();
      if (item.cut || ended) return cut();
      const next = text[at];
      if (next !== "," && next !== close) return undefined;
      at++;
      if (next === close) {
        node.to = at;
        return node;
      }
      skip();
    }
  };
  const root = value(0);
  if (root) skip();
  return root && at >= text.length ? { parsed: { text, root }, at } : { at };
}

// formatted returns a text as JSON with line breaks; undefined if it is none.
export function formatted(text: string): string | undefined {
  const p = parse(text);
  return p && written(p.text, p.root, "");
}

function written(text: string, n: Node, margin: string): string {
  const [open, close] = n.kind === "object" ? "{}" : "[]";
  if (!n.items) return text.slice(n.from, n.to);
  if (n.items.length === 0) return open! + close!;
  const inner = margin + "  ";
  return `${open}\n${n.items.map((x, i) => inner + (n.names ? n.names[i] + ": " : "") + written(text, x, inner)).join(",\n")}\n${margin}${close}`;
}

// onOneLine returns a text as JSON without space between its values; undefined if it is none.
export function onOneLine(text: string): string | undefined {
  const p = parse(text);
  const flat = (n: Node): string => {
    if (!n.items) return text.slice(n.from, n.to);
    const inner = n.items.map((x, i) => (n.names ? n.names[i] + ":" : "") + flat(x)).join(",");
    return n.kind === "object" ? `{${inner}}` : `[${inner}]`;
  };
  return p && flat(p.root);
}
