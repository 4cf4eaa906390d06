// Which messages a table shows: fields in a bar, further ones in a menu, and a chip for each filter that has no field in sight.
import { instantOf } from "./format";
import { Search } from "./events";
import { Text, Time } from "./kit";
import { Menu } from "./menu";
import { refine, route } from "./route";
import { narrow } from "./virtual";

type Query = Record<string, string>;

const passed = ["state", "text", "reason", "sessionId", "dueAfter", "dueBefore", "from"] as const; // to the server as they are

// unread reports whether a filter of the address is for a time and has none. Such a filter is left out, and shown as wrong.
const unread = (filter: string, text: string) => filter.startsWith("due") && instantOf(text) === undefined;

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

// sqlOf joins what the SQL field says with the filters for which SQL has a property. SQL compares ids of all types as texts: a UUID, which is no text, in small letters.
function sqlOf(q: Query): string | undefined {
  const ids = [["messageId", "sys.MessageId"], ["correlationId", "sys.CorrelationId"]].flatMap(([name, property]) => {
    const id = q[name!];
    return id ? [`${property} IN (${[...new Set(uuid.test(id) ? [id, id.toLowerCase(), id.toUpperCase()] : [id])].map(quoted).join(", ")})`] : [];
  });
  if (ids.length === 0) return q.sql || undefined;
  return [...(q.sql ? [`(${q.sql})`] : []), ...ids].join(" AND ");
}

// asked returns what the filters of an address ask the server for.
export function asked(q: Query): Query {
  const out: Query = {}, sql = sqlOf(q);
  for (const f of passed) if (q[f] && !unread(f, q[f])) out[f] = q[f];
  if (sql) out.sql = sql;
  return out;
}

// narrowing reports whether filters leave messages out.
export const narrowing = (a: Query) => Object.keys(a).some((f) => f !== "from");

// forJobs returns the filter of a job that takes the same messages; undefined if no job has these filters.
export function forJobs(a: Query) {
  if (a.state || a.dueAfter || a.dueBefore || a.from) return undefined;
  const text = (s?: string) => (s === "$empty" ? "" : s);
  return { text: a.text, sql: a.sql, reason: text(a.reason), sessionId: text(a.sessionId) };
}

function Order() {
  return (
    <select aria-label="Order" value={route.value.query.order ?? "newest"} onChange={(e) => refine({ order: e.currentTarget.value === "newest" ? undefined : e.currentTarget.value, sort: undefined })}>
      <option value="newest">Newest first</option><option value="oldest">Oldest first</option>
    </select>
  );
}

function State() {
  return (
    <select aria-label="State" value={route.value.query.state ?? ""} onChange={(e) => refine({ state: e.currentTarget.value })}>
      <option value="">All states</option>{["active", "locked", "deferred", "scheduled"].map((s) => <option key={s}>{s}</option>)}
    </select>
  );
}

const SQL = () => <Search label="SQL filter: amount > 100" value={route.value.query.sql ?? ""} set={(sql) => refine({ sql })} />;

const ids = [["sessionId", "Session id"], ["messageId", "Message id"], ["correlationId", "Correlation id"]] as const;

export function Filters({ dead }: { dead: boolean }) {
  const q = route.value.query;
  const rest = <><Order />{!dead && <State />}<SQL /></>;
  return (
    <>
      <Search label="Text in body or properties" value={q.text ?? ""} set={(text) => refine({ text })} />
      {!narrow.value && rest}
      <Menu label="+ Filter">
        {narrow.value && rest}
        {ids.map(([name, title]) => <Search key={name} label={title} value={q[name] ?? ""} set={(text) => refine({ [name]: text })} />)}
        <Search label="From number" value={q.from ?? ""} set={(text) => refine({ from: /^\d+$/.test(text) ? text : undefined })} />
      </Menu>
    </>
  );
}

const words: Record<string, string> = { dueAfter: "due from", dueBefore: "due before", from: "from #", sessionId: "session", messageId: "message id", correlationId: "correlation id", sql: "SQL", state: "state", reason: "reason" };

// Applied are the filters without a field in sight.
export function Applied({ dead }: { dead: boolean }) {
  const q = route.value.query;
  const on = [...(narrow.value ? ["state", "sql"] : []), ...(dead ? [] : ["reason"]), "sessionId", "messageId", "correlationId", "from", "dueAfter", "dueBefore"].filter((f) => q[f]);
  if (on.length === 0) return null;
  const wrong = (f: string) => (unread(f, q[f]!) ? " is not a time such as 2026-11-22T10:00:00Z and is ignored" : "");
  const value = (f: string) => (q[f] === "$empty" ? "(empty)" : q[f]!);
  return (
    <div class="chips" role="group" aria-label="Filters">
      {on.map((f) => (
        <button key={f} type="button" class="chip" aria-label={`Clear the filter ${words[f]} ${value(f)}${wrong(f)}`} onClick={() => refine({ [f]: undefined })}>
          {words[f]}{f !== "from" && " "}{f.startsWith("due") && !wrong(f) ? <Time at={q[f]} brief /> : <Text>{value(f)}</Text>}{wrong(f)} ×
        </button>
      ))}
    </div>
  );
}
