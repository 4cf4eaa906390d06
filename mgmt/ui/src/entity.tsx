// One entity: its counts and settings, who uses it, its history, sessions, and why nothing is received.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, get, type Entity } from "./api";
import { RuleTest } from "./ruletest";
import { LastHour, RateTiles } from "./chart";
import { Compose } from "./compose";
import { DeadLetters } from "./deadletters";
import { Messages } from "./messages";
import { carries, Links, useConnections } from "./connections";
import { Snippets } from "./connect";
import { drop, EntitySettings, type Whole } from "./entitysettings";
import { EventTable } from "./eventtable";
import { Standing, useEvents } from "./events";
import { Calendar } from "./calendar";
import { unsent } from "./drafts";
import { Export } from "./export";
import { FaultBadge } from "./faults";
import { bytes, duration, number } from "./format";
import { holding } from "./held";
import { Icon } from "./icons";
import { purge } from "./joborders";
import { JMSBadge, jmsFacts } from "./jms";
import { Badge, Button, copy, Empty, Facts, Loading, Panel, Problem, Tabs, Text, Tile, Time, type Children } from "./kit";
import { clientOf, deadLetters, libraryOf, shown } from "./names";
import { usePoll } from "./poll";
import { Receive } from "./receive";
import { go, link, route, withQuery } from "./route";
import { RuleList, RulesTab } from "./rules";
import { Sessions } from "./sessions";
import { groupsOf } from "./settings";
import { Subscriptions } from "./subscriptions";
import { entityAt, isFavourite, toggleFavourite } from "./state";
import { narrow } from "./virtual";
import { Why } from "./why";

type Forward = Whole["forwardsTo"][number];

export function useEntity(path: string) {
  const namespace = route.value.namespace;
  return usePoll(JSON.stringify([namespace, path]), 3000, (signal) => get<Whole>(at`${namespace}/entities/${path}`, {}, signal));
}

function Counts({ e }: { e: Entity }) {
  const c = e.counts;
  return (
    <div class="tiles">
      {e.kind !== "topic" && <Tile name="Active" value={number(c.active)} title="With those that are locked or deferred" to={link("entity", e.path, "messages")} />}
      {e.kind !== "topic" && <Tile name="Deferred" value={number(c.deferred)} />}
      {e.kind !== "subscription" && <Tile name="Scheduled" value={number(c.scheduled)} to={link("entity", e.path, "messages")} />}
      {e.kind !== "topic" && <Tile name="Dead letters" value={number(c.deadLetter)} tone="dead" to={link("entity", e.path, "dead")} />}
      {(c.transfer > 0 || c.transferDeadLetter > 0) && <Tile name="To forward" value={number(c.transfer)} tone="warn" />}
      {c.transferDeadLetter > 0 && <Tile name="Not forwarded" value={number(c.transferDeadLetter)} tone="dead" />}
      <Tile name="Size" value={bytes(c.sizeBytes)} />
      <RateTiles minute={e.lastMinute} out={e.kind !== "topic"} />
    </div>
  );
}

// Value shows the value of a setting.
function Value({ value, unit }: { value: unknown; unit?: string }) {
  if (typeof value === "boolean") return value ? <>on</> : <span class="faint">off</span>;
  if (typeof value === "number") return <>{number(value)}{unit && "\u00a0" + unit}</>;
  if (value === null || value === "") return <span class="faint">none</span>;
  const text = String(value);
  return /^-?P\d*[DT]/.test(text) ? <span title={text}>{duration(text)}</span> : <Text>{text}</Text>;
}

function Forwards({ list, words: w }: { list: Forward[]; words: string }) {
  return <>{list.map((f) => (
    <span key={f.entity} class="forward">{f.deadLetters ? "dead letters " : ""}{w} <a href={link("entity", f.entity)}><Text>{shown(f.entity)}</Text></a> {f.missing && <Badge tone="bad">does not exist</Badge>}</span>
  ))}</>;
}

const told = new Set(["Status", "ForwardTo", "ForwardDeadLetteredMessagesTo"]); // settings that Known tells in its own words

function Known({ e }: { e: Whole }) {
  const facts: [string, Children][] = [["Kind", e.kind], ["Status", e.status === "Active" ? "Active" : <Badge tone="warn">{e.status}</Badge>], ...jmsFacts(e)];
  if (e.created) facts.push(["Created", <Time at={e.created} />]);
  if (e.updated) facts.push(["Last changed", <Time at={e.updated} />]);
  if (e.accessed) facts.push(["Last used", <Time at={e.accessed} />]);
  if (e.oldest) facts.push(["Oldest message", <><Time at={e.oldest.enqueued} /></>]);
  if (e.autoDelete) facts.push(["Deletes itself", <Time at={e.autoDelete.at} />]);
  if (e.forwardsTo?.length) facts.push(["Forwards", <Forwards list={e.forwardsTo} words="to" />]);
  if (e.forwardedFrom?.length) facts.push(["Receives forwards", <Forwards list={e.forwardedFrom} words="from" />]);
  const { properties = {} } = e, set = groupsOf(e.kind).flatMap((g) => g.settings);
  for (const s of set) if (properties[s.name] !== undefined && !told.has(s.name)) facts.push([s.title, <Value value={properties[s.name]} unit={s.unit} />]);
  return <Panel title="Properties" flush><Facts facts={facts} /></Panel>;
}

// Users lists who sends and receives now.
function Users({ path }: { path: string }) {
  const namespace = route.value.namespace;
  const p = useConnections(namespace, path);
  const list = (p.value ?? []).map((c) => ({ c, links: c.links.filter((l) => l.entity?.toLowerCase() === path.toLowerCase() && carries(l)) })).filter((x) => x.links.length > 0);
  return (
    <Panel title="Connected clients" flush actions={<a class="button small" href={link("connections")}>All connections</a>}>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {p.value && list.length === 0 && <Empty title="No connected clients."><p>A client appears as soon as it sends or receives.</p></Empty>}
      {list.map(({ c, links }) => (
        <div key={c.id} class="user"><p><a href={withQuery(link("connections"), { connection: c.id })}><b><Text>{clientOf(c)}</Text></b></a> <span class="faint">{[libraryOf(c), c.remote].filter(Boolean).join(" · ")}</span></p>
          <Links namespace={namespace} connection={c} links={links} done={p.refresh} /></div>
      ))}
    </Panel>
  );
}

function Summary({ e, done }: { e: Whole; done: () => void }) {
  const c = e.counts, empty = c.active + c.deadLetter + c.scheduled === 0;
  return (
    <>
      <Counts e={e} />
      {e.kind === "topic" && <Subscriptions topic={e.path} sent={e.traffic.stored} />}
      <LastHour of={e.path} had={!empty || e.traffic.stored > 0} now={{ minute: e.lastMinute, ...c }} holds={e.kind !== "topic"} key={e.path} />
      <Users path={e.path} />
      {empty && e.kind !== "subscription" && <Panel title="Send a message"><Snippets entity={e.path} /></Panel>}
      {e.kind === "subscription" && <RuleList path={e.path} rules={e.rules ?? []} done={done} />}
      <Known e={e} />
    </>
  );
}

function History({ path }: { path: string }) {
  const [paused, pause] = useState(false);
  const { events, state, loaded } = useEvents(route.value.namespace, { entity: path }, paused);
  return (
    <>
      <div class="bar"><Button act={() => pause(!paused)}>{paused ? "Resume" : "Pause"}</Button><Standing state={state} loaded={loaded} paused={paused} /></div>
      {state && <Problem text={state} />}
      {events.length > 0 ? <EventTable events={events} label="Events, the newest first" without={["entity"]} /> : loaded && <Empty title="No events yet." />}
    </>
  );
}

// More has the acts that destroy, one click away from where a hand slips.
function More({ e }: { e: Whole }) {
  const [open, set] = useState(false), [saving, save] = useState(false), menu = useRef<HTMLSpanElement>(null);
  const waiting = e.counts.active - e.counts.deferred;
  useLayoutEffect(() => {
    if (!open) return;
    const outside = (x: Event) => { if (!menu.current?.contains(x.target as Node)) set(false); };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const item = (title: string, act: () => void, off = false, tone = "") => (
    <button type="button" class={`menu-item ${tone}`} disabled={off} onClick={() => { set(false); act(); }}>{title}</button>
  );
  return (
    <span class="choice" ref={menu} onKeyDown={(x) => { if (x.key === "Escape" && open) { x.stopPropagation(); set(false); menu.current?.querySelector("button")?.focus(); } }}>
      <button type="button" class="button" aria-label="More actions" title="More actions" aria-expanded={open} onClick={() => set(!open)}>…</button>
      {open && (
        <div class="choice-list">
          {e.kind !== "topic" && item("Save as seed", () => save(true), e.counts.active + e.counts.scheduled + e.counts.deadLetter <= 0)}
          {e.kind !== "topic" && item("Purge messages", () => purge(e.path, waiting), waiting <= 0)}
          {e.kind !== "topic" && item("Purge dead letters", () => purge(e.path + "/" + deadLetters, e.counts.deadLetter), e.counts.deadLetter <= 0)}
          {item(`Delete ${e.kind}`, () => void drop(e), false, "danger")}
        </div>
      )}
      {saving && <Export entity={e.path} numbers={[]} query={{}} seed close={() => save(false)} />}
    </span>
  );
}

// TabKeys opens the tabs by their numbers.
function TabKeys({ tabs }: { tabs: { href: string }[] }) {
  const latest = useRef(tabs);
  latest.current = tabs;
  useLayoutEffect(() => { // before the next key arrives
    const onKey = (e: KeyboardEvent) => {
      const tab = /^[1-9]$/.test(e.key) ? latest.current[Number(e.key) - 1] : undefined;
      if (!tab || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest?.("input,textarea,select,dialog,[data-editor]")) return;
      e.preventDefault();
      go(tab.href);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return null;
}

export function EntityPage({ path, tab, item }: { path: string; tab: string; item?: string }) {
  const p = useEntity(path);
  const e = p.value;
  if (!e) return p.error ? <><h1><Text>{shown(path)}</Text></h1><Problem text={p.error} retry={p.refresh}><a href={link("")}>All entities</a></Problem></> : <Loading />;
  const fresh = { ...e, ...entityAt.value.get(path.toLowerCase()) };
  const star = isFavourite(e.path);
  const tested = e.kind !== "queue", rules = e.kind === "subscription" ? e.rules ?? [] : undefined;
  const sessions = e.properties?.RequiresSession !== false && e.kind !== "topic";
  const held = holding(route.value.namespace, path).messages.length + holding(route.value.namespace, path + "/" + deadLetters).messages.length;
  const draft = unsent(route.value.namespace, path);
  const tabs = [
    { name: "", href: link("entity", path), title: "Summary" },
    ...(e.kind !== "topic" ? [
      { name: "messages", href: link("entity", path, "messages"), title: "Messages", count: number(fresh.counts.active + fresh.counts.scheduled) },
      { name: "dead", href: link("entity", path, "dead"), title: "Dead letters", count: number(fresh.counts.deadLetter) },
    ] : [{ name: "messages", href: link("entity", path, "messages"), title: "Scheduled", count: number(fresh.counts.scheduled) }]),
    ...(e.kind !== "subscription" ? [{ name: "send", href: withQuery(link("entity", path, "send"), draft ?? {}), title: "Send", count: draft && <span class="dot" title="A draft that was not sent" /> }] : []),
    ...(e.kind !== "topic" ? [{ name: "receive", href: link("entity", path, "receive"), title: "Receive", count: held > 0 ? `${number(held)} held` : undefined }] : []),
    ...(sessions ? [{ name: "sessions", href: link("entity", path, "sessions"), title: "Sessions" }] : []),
    ...(rules ? [{ name: "rules", href: link("entity", path, "rules"), title: "Rules", count: number(rules.length) }] : []),
    ...(tested ? [{ name: "test", href: link("entity", path, "test"), title: "Test a message" }] : []),
    { name: "history", href: link("entity", path, "history"), title: "History" },
    { name: "why", href: link("entity", path, "why"), title: e.kind === "topic" ? "Who gets messages?" : "Why don’t I receive?" },
    { name: "settings", href: link("entity", path, "settings"), title: "Settings" },
  ];
  return (
    <>
      <div class="title">
        <h1><span class={`icon ${e.kind}`} aria-hidden="true" /><Text>{shown(e.path)}</Text></h1>
        <button type="button" class="tool copy-path" aria-label="Copy the path" title={`Copy the path ${e.path}`} onClick={() => void copy(e.path)}><Icon name="copy" /></button>
        <button type="button" class={`star ${star ? "on" : ""}`} aria-pressed={star} aria-label="Favourite" onClick={() => toggleFavourite(e.path)}>★</button>
        <JMSBadge e={e} />
        <FaultBadge path={e.path} />
        <span class="title-acts">
          {e.kind !== "subscription" && tab !== "send" && <a class="button primary" href={link("entity", path, "send")}>{narrow.value ? "Send" : "Send message"}</a>}
          {e.kind === "subscription" && tab !== "receive" && <a class="button" href={link("entity", path, "receive")}>Receive</a>}
          <More e={fresh} />
        </span>
      </div>
      <Tabs tabs={tabs} at={tab} />
      <TabKeys tabs={tabs} />
      {tab === "" && <Summary e={fresh} done={p.refresh} />}
      {tab === "messages" && e.kind !== "subscription" && <Calendar path={path} />}
      {tab === "messages" && <Messages path={path} dead={false} chosen={item} />}
      {tab === "dead" && <DeadLetters path={path} chosen={item} />}
      {tab === "send" && <Compose path={path} />}
      {tab === "receive" && e.kind !== "topic" && <Receive path={path} sessions={e.properties?.RequiresSession === true} />}
      {tab === "sessions" && <Sessions path={path} />}
      {tab === "history" && <History path={path} />}
      {tab === "why" && <Why path={path} topic={e.kind === "topic"} sent={fresh.traffic.stored} />}
      {tab === "rules" && rules && <RulesTab path={e.path} rules={rules} item={item} done={p.refresh} />}
      {tab === "test" && tested && <RuleTest path={e.path} key={e.path} />}
      {tab === "settings" && <EntitySettings e={e} done={p.refresh} />}
      {!tabs.some((t) => t.name === tab) && <Empty title="There is no such view."><p><a href={link("entity", path)}>Go to the summary</a></p></Empty>}
    </>
  );
}

