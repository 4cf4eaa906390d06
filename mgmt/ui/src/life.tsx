// What happened to a message, step by step, from entity to entity to its end.
import { at, get, type Event, type Schemas } from "./api";
import { Client, entityOf, toneOf, wordsOf } from "./eventtable";
import { both, number, plural, span, time } from "./format";
import { Empty, Field, Loading, Panel, Problem, Text, Time, type Children } from "./kit";
import { shown } from "./names";
import { usePoll, type Polled } from "./poll";
import { link, refine, route } from "./route";
import { now } from "./state";
import { lifeOfText, Search } from "./events";

export interface Message {
  messageId?: string;
  entity?: string;
  sequenceNumber?: string;
}

type Page = Schemas["HistoryPage"];

// useLife follows what happened to a message.
export function useLife(namespace: string, message: Message): Polled<Page> {
  return usePoll(JSON.stringify([namespace, message]), 3000, (signal) => get<Page>(at`${namespace}/history/life`, { ...message }, signal));
}

interface Lane {
  events: Event[];
  entity: string; // where the message is, and its number there
  number?: number;
  next?: string; // where it is forwarded to
}

// lanesOf parts the events by message: copies, and other messages with the same id, have their own lanes. A message keeps its lane when it is
// forwarded or gets another number.
function lanesOf(events: Event[]): Lane[] {
  const lanes: Lane[] = [], same = (a: string, b?: string) => a.toLowerCase() === b?.toLowerCase();
  for (const e of events) {
    let lane = e.kind === "forwardedHere"
      ? lanes.find((l) => same(e.entity, l.next) && same(l.entity, e.detail))
      : lanes.find((l) => same(e.entity, l.entity) && e.sequenceNumber === l.number);
    if (!lane) lanes.push((lane = { events: [], entity: e.entity, number: e.sequenceNumber }));
    lane.events.push(e);
    lane.entity = e.entity;
    lane.number = e.newSequenceNumber ?? e.sequenceNumber;
    lane.next = e.kind === "forwarded" ? e.detail : undefined;
  }
  return lanes;
}

const elapsed = (ms: number) => (ms < 1 ? "< 1 ms" : ms < 1000 ? `${ms} ms` : span(ms));

function By({ e, word = "by" }: { e: Event; word?: string }) {
  return e.client ? <> {word} <Client c={e.client} /></> : null;
}

const Place = ({ path }: { path: string }) => <a href={link("entity", path)}><Text>{shown(path)}</Text></a>;

// lineOf says a step in one line.
function lineOf(e: Event): Children {
  switch (e.kind) {
    case "sent":
      return <><b>Sent</b> to <Place path={e.entity} /><By e={e} />{e.copies !== undefined && `, ${plural(e.copies, "copy", "copies")}`}</>;
    case "scheduled":
      return <><b>Scheduled</b> in <Place path={e.entity} /><By e={e} />{e.scheduledFor && <>, due <Time at={e.scheduledFor} /></>}</>;
    case "copied":
      return <><b>Copied</b> to <Place path={e.entity} />{e.detail && <> by the rule <b><Text>{e.detail}</Text></b></>}</>;
    case "forwardedHere":
      return <><b>Arrived</b> in <Place path={e.entity} /></>;
    case "forwarded":
      return <><b>Forwarded</b>{e.detail && <> to <Place path={e.detail} /></>}</>;
    case "delivered":
      return <><b>Delivered</b><By e={e} word="to" />{e.lockedUntil && `, locked ${span(Math.round((Date.parse(e.lockedUntil) - Date.parse(e.time)) / 1000) * 1000)}`}</>;
    case "deadLettered":
      return <><b>Dead-lettered</b><By e={e} />{e.detail && <>: <Text>{e.detail}</Text></>}</>;
    default:
      return <><b>{wordsOf(e.kind).replace(/^./, (c) => c.toUpperCase())}</b><By e={e} />{e.detail && <>: <Text>{e.detail}</Text></>}</>;
  }
}

function Step({ e, before }: { e: Event; before?: Event }) {
  return (
    <li class={`step ${toneOf(e.kind)}`}>
      <span class="step-gap">{before ? <span class="hidden">after </span> : ""}{before ? elapsed(Date.parse(e.time) - Date.parse(before.time)) : ""}</span>
      <div class="step-what">
        <p>{lineOf(e)}</p>
        <details>
          <summary title={both(Date.parse(e.time))}>{time(Date.parse(e.time), now.value, true)}</summary>
          <p class="wrap"><Text>{e.text}</Text></p>
          <p class="faint">
            #{e.sequenceNumber} of <Text>{shown(entityOf(e))}</Text>{e.newSequenceNumber !== undefined && <>, #{e.newSequenceNumber} from now on</>}{e.deliveryCount > 0 && <> · delivery count {e.deliveryCount}</>}
            {e.lockedUntil && <> · lock expires <Time at={e.lockedUntil} /></>}
          </p>
        </details>
      </div>
    </li>
  );
}

// Timeline shows what happened to a message.
export function Timeline({ of: p, level: Heading = "h2" }: { of: Polled<Pick<Page, "items">>; level?: "h2" | "h4" }) {
  if (!p.value) return p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />;
  const list = p.value.items;
  if (list.length === 0) {
    return <Empty title="No events for this message."><p>No message had this id, or its events are no longer kept. The flag --history sets how many events Minibus keeps.</p></Empty>;
  }
  const lanes = lanesOf(list), lasted = Date.parse(list[list.length - 1]!.time) - Date.parse(list[0]!.time);
  return (
    <>
      {p.error && <Problem text={p.error} />}
      <p class="hint">{plural(list.length, "step")}{list.length > 1 && ` in ${elapsed(lasted)}`}, {list.length > 1 && "the first "}<Time at={list[0]!.time} ageOnly />{lanes.length > 1 && `, ${number(lanes.length)} messages`}</p>
      {lanes.map((l, i) => (
        <section key={i} class="lane">
          {lanes.length > 1 && <Heading class="lane-head">{l.number !== undefined && <a href={link("entity", l.entity, "messages", String(l.number))}>#{l.number}</a>} <Text>{shown(l.entity)}</Text></Heading>}
          <ol class="timeline">{l.events.map((e, j) => <Step key={e.number} e={e} before={l.events[j - 1]} />)}</ol>
        </section>
      ))}
    </>
  );
}

function Traced({ message }: { message: Message }) {
  const p = useLife(route.value.namespace, message);
  return <Panel><Timeline of={p} /></Panel>;
}

// TracedText traces what a text names, as Ctrl K does.
function TracedText({ text }: { text: string }) {
  const namespace = route.value.namespace;
  const p = usePoll(JSON.stringify([namespace, text]), 3000, async (signal) => ({ items: await lifeOfText(namespace, text, signal) }));
  return <Panel><Timeline of={p} /></Panel>;
}

export function Life() {
  const { query } = route.value;
  return (
    <>
      <h1>Trace a message</h1>
      <div class="bar trace-bar">
        <Field label="Message"><Search label="Message id" hint="Message id, orders#7, correlation id" value={query.messageId ?? ""} set={(messageId) => refine({ messageId, entity: undefined, sequenceNumber: undefined })} /></Field>
        {query.sequenceNumber && query.entity && <span class="traced">or <a href={link("entity", query.entity, "messages", query.sequenceNumber)}>#{query.sequenceNumber} of <Text>{shown(query.entity)}</Text></a></span>}
      </div>
      {query.sequenceNumber && query.entity ? <Traced message={{ entity: query.entity, sequenceNumber: query.sequenceNumber }} />
        : query.messageId ? <TracedText text={query.messageId} /> : <Empty title="Which message?"><p>Enter an id, or open a message from the live events.</p></Empty>}
    </>
  );
}
