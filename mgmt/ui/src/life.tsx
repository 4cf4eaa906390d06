// The life of a message as a timeline, from entity to entity to its end.
import { at, get, type Event, type Schemas } from "./api";
import { clientOf, entityOf, toneOf, wordsOf } from "./eventtable";
import { plural, span } from "./format";
import { Badge, Empty, Loading, Panel, Problem, Text, Time } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link, refine, route } from "./route";
import { Search } from "./events";

export interface Message {
  messageId?: string;
  entity?: string;
  sequenceNumber?: string;
}

function Step({ e, before }: { e: Event; before?: Event }) {
  const passed = before ? Date.parse(e.time) - Date.parse(before.time) : 0;
  const client = clientOf(e);
  return (
    <li class={`step ${toneOf(e.kind)}`}>
      <div class="step-when"><Time at={e.time} millis />{passed >= 1000 && <span class="faint">after {span(passed)}</span>}</div>
      <div class="step-what">
        <p><Badge tone={toneOf(e.kind)}>{wordsOf(e.kind)}</Badge> <a href={link("entity", e.entity)}><Text>{shown(entityOf(e))}</Text></a> {e.sequenceNumber !== undefined && <span class="faint">#{e.sequenceNumber}</span>}</p>
        <p class="wrap"><Text>{e.text}</Text></p>
        <p class="faint">
          {client && <>by <Text>{client}</Text> </>}
          {e.deliveryCount > 0 && <>delivery count {e.deliveryCount} </>}
          {e.lockedUntil && <>locked until <Time at={e.lockedUntil} /></>}
          {e.scheduledFor && <>due <Time at={e.scheduledFor} /></>}
        </p>
      </div>
    </li>
  );
}

// Timeline shows the life of a message and follows it.
export function Timeline({ namespace, message }: { namespace: string; message: Message }) {
  const p = usePoll(JSON.stringify([namespace, message]), 3000, (signal) =>
    get<Schemas["HistoryPage"]>(at`${namespace}/history/life`, { ...message }, signal));
  if (!p.value) return p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />;
  const list = p.value.items;
  if (list.length === 0) {
    return <Empty title="Minibus remembers nothing of this message."><p>It came before the oldest event in memory, or there was none with this id. The setting --history says how many events are kept.</p></Empty>;
  }
  return (
    <>
      {p.error && <Problem text={p.error} />}
      <p class="hint">{plural(list.length, "event")} in {span(Date.parse(list[list.length - 1]!.time) - Date.parse(list[0]!.time))}</p>
      <ol class="timeline">{list.map((e, i) => <Step key={e.number} e={e} before={list[i - 1]} />)}</ol>
    </>
  );
}

export function Life() {
  const { namespace, query } = route.value;
  const message: Message = query.sequenceNumber ? { entity: query.entity, sequenceNumber: query.sequenceNumber } : { messageId: query.messageId };
  const known = message.messageId || (message.entity && message.sequenceNumber);
  return (
    <>
      <h1>Life of a message</h1>
      <div class="bar">
        <Search label="Message id" value={query.messageId ?? ""} set={(messageId) => refine({ messageId, entity: undefined, sequenceNumber: undefined })} />
        {query.sequenceNumber && <span>#{query.sequenceNumber} of <Text>{shown(query.entity ?? "")}</Text></span>}
      </div>
      {known ? <Panel><Timeline namespace={namespace} message={message} /></Panel> : <Empty title="Which message?"><p>Type its message id, or choose one in the live events.</p></Empty>}
    </>
  );
}
