// Sending an edited copy of a dead letter, and deleting the dead letter then, so that nobody sends it a second time.
import { at, get, textOf, type Schemas } from "./api";
import { msOf } from "./durations";
import { Text } from "./kit";
import { read, remove, type Message } from "./message";
import { deadLetters, shown, topicOf } from "./names";
import { go, link } from "./route";
import { typedSpan } from "./spanfield";

const end = "/" + deadLetters;
const holderOf = (from: string) => (from.toLowerCase().endsWith(end.toLowerCase()) ? from.slice(0, -end.length) : undefined);

// initialSpan returns the time to live that an entity gives to messages without one, in ms.
async function initialSpan(namespace: string, entity: string): Promise<number | undefined> {
  const e = await get<Schemas["WholeEntity"]>(at`${namespace}/entities/${entity}`);
  const iso = e.properties?.DefaultMessageTimeToLive;
  return typeof iso === "string" ? msOf(iso) : undefined;
}

// sourceOf reads the message that is edited. A time to live that its entity or its topic gave it is left out: the next one gives it again.
export async function sourceOf(namespace: string, from: string, number: string): Promise<Message> {
  const m = await read(namespace, from, number);
  if (!m.timeToLive) return m;
  const span = msOf(m.timeToLive), holder = holderOf(from) ?? from, topic = topicOf(holder);
  const initial = await Promise.all([holder, ...(topic ? [topic] : [])].map((e) => initialSpan(namespace, e).catch(() => undefined)));
  return { ...m, timeToLive: initial.includes(span) ? undefined : typedSpan(m.timeToLive) };
}

// letterOf returns the dead letter that the address names, if it names one.
export function letterOf(query: Record<string, string>) {
  const { from, number } = query, holder = from && holderOf(from);
  if (!from || !number || !holder) return undefined;
  // after ends what was sent, and says what became of the dead letter.
  const after = async (namespace: string, sent: string, removing: boolean): Promise<string> => {
    if (!removing) return `${sent}. The dead letter #${number} is still there.`;
    try {
      await remove(namespace, from, [Number(number)]);
    } catch (e) {
      throw new Error(`${sent}, but the dead letter #${number} is still there: ${textOf(e)} Delete it, or it may be sent a second time.`);
    }
    go(link("entity", holder, "dead"));
    return `${sent}, and the dead letter #${number} is deleted.`;
  };
  return { number, holder, after, ofTopic: topicOf(holder) !== undefined };
}

export function Mending({ path, ofTopic, cut, remove, set }: { path: string; ofTopic: boolean; cut: boolean; remove: boolean; set: (remove: boolean) => void }) {
  return (
    <>
      <p class="hint">It goes to <b><Text>{shown(path)}</Text></b> as a new message.{ofTopic && " Every subscription with a matching rule gets a copy."}</p>
      <label class="check"><input type="checkbox" checked={remove} disabled={cut} onChange={(e) => set(e.currentTarget.checked)} />
        <span>Delete the dead letter after sending{cut && ". It stays, because only the beginning of its body is here"}</span></label>
    </>
  );
}
