// XML as a tree to look at. It is only split into its tags: nothing is resolved, loaded or run.
export interface Element {
  head: string; // the tag, or the text, comment or declaration
  tail?: string; // the end tag
  items: Element[];
}

const token = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!(?:[^<>"'[]|"[^"]*"|'[^']*'|\[[^\]]*\])*>|<\/[^<>]*>|<[A-Za-z_:](?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+/y;
const deepest = 400;

// parse reads a text; undefined if its tags do not fit. Of a clipped text it returns what there is.
export function parse(text: string, clipped = false): Element[] | undefined {
  const top: Element = { head: "", items: [] }, open = [top];
  let at = /^\ufeff?\s*/.exec(text)![0].length;
  if (text[at] !== "<") return undefined;
  while (at < text.length) {
    token.lastIndex = at;
    const m = token.exec(text);
    const here = open[open.length - 1]!;
    if (!m) {
      if (!clipped) return undefined;
      here.items.push({ head: text.slice(at), items: [] });
      break;
    }
    at = token.lastIndex;
    const part = m[0];
    if (part.startsWith("</")) {
      const name = part.slice(2, -1).trim();
      if (open.length === 1 || /^<([^\s/>]+)/.exec(here.head)?.[1] !== name) return undefined;
      here.tail = part;
      open.pop();
    } else if (/^<[^!?]/.test(part)) {
      const e: Element = { head: part, items: [] };
      here.items.push(e);
      if (!part.endsWith("/>") && open.push(e) > deepest) return undefined;
    } else if (part.trim() !== "") {
      if (open.length === 1 && !part.startsWith("<")) return undefined; // text beside the root
      here.items.push({ head: part.startsWith("<") ? part : part.trim(), items: [] });
    }
  }
  if (!clipped && open.length > 1) return undefined;
  return top.items.some((e) => /^<[^!?]/.test(e.head)) ? top.items : undefined;
}

// formatted returns the tree as text with line breaks.
export function formatted(list: Element[], margin = ""): string {
  return list.map((e) => {
    if (e.items.length === 0) return margin + e.head + (e.tail ?? "");
    if (e.items.length === 1 && e.items[0]!.items.length === 0 && !e.items[0]!.head.startsWith("<")) return margin + e.head + e.items[0]!.head + (e.tail ?? "");
    return `${margin}${e.head}\n${formatted(e.items, margin + "  ")}\n${margin}${e.tail ?? "…"}`;
  }).join("\n");
}
