// Orders for jobs, each after a question that says what happens and to how many messages.
import { AgainForm, asTheyAre, orderOf, type Again } from "./again";
import { at, call, type Job, type Schemas } from "./api";
import { ask } from "./asking";
import { number, plural } from "./format";
import { Text } from "./kit";
import { deadLetters, shown } from "./names";
import { go, link, route } from "./route";
import { refresh } from "./state";
import { tell } from "./toasts";

export type Order = Schemas["JobOrder"];

// start starts a job and shows it.
export async function start(order: Order): Promise<void> {
  const job = await call<Job>("POST", at`${route.value.namespace}/jobs`, { body: order, query: { wait: "1s" } });
  refresh();
  if (job.state !== "done" || job.failed > 0) go(link("jobs"));
  tell(job.state === "done" ? `Done: ${plural(job.done, "message")}${job.failed ? `, ${number(job.failed)} failed` : ""}.` : "Running in the background.");
}

// named says what an entity or a dead-letter queue holds, and of which entity.
function named(path: string): { dead: boolean; noun: string; where: string } {
  const dead = path.endsWith("/" + deadLetters);
  return { dead, noun: dead ? "dead letter" : "message", where: shown(dead ? path.slice(0, -deadLetters.length - 1) : path) };
}

// purge removes all messages of an entity or a sub-queue.
export function purge(entity: string, count: number): void {
  const { dead, noun, where } = named(entity);
  ask({
    title: `Purge ${noun}s?`, yes: `Purge ${plural(count, noun)}`, losing: "purge",
    text: <>
      <p>All {dead ? "" : "active "}{noun}s of <b><Text>{where}</Text></b> will be removed: {number(count)} now. {dead ? "Those that clients have locked stay." : "Deferred, scheduled and locked messages stay."}</p>
      <p>Export the messages first if you may need them.</p>
    </>,
    act: () => start({ kind: "purge", entity }),
  });
}

type Filter = NonNullable<Order["filter"]>;

const words = (f: Filter) => [f.reason !== undefined && `with the reason ${f.reason || "(none)"}`, f.text && `with the text ${f.text}`, f.sql && `that match ${f.sql}`,
  f.sessionId !== undefined && `of the session ${f.sessionId || "(empty id)"}`].filter(Boolean).join(", ");

// without leaves out what is not given.
const without = (f: Filter): Filter => Object.fromEntries(Object.entries(f).filter(([k, v]) => v !== undefined && (v !== "" || k === "reason" || k === "sessionId")));

const some = (noun: string, n?: number) => (n === undefined ? `all matching ${noun}s` : plural(n, noun));
const sentence = (noun: string, n?: number) => some(noun, n).replace(/^a/, "A");

// purgeSome removes the messages that match.
export function purgeSome(entity: string, filter: Filter, count?: number): void {
  const { noun, where } = named(entity);
  ask({
    title: `Purge ${noun}s?`, yes: `Purge ${some(noun, count)}`, losing: "purge",
    text: <><p>{sentence(noun, count)} of <b><Text>{where}</Text></b> <Text>{words(filter)}</Text> will be removed. Those that clients have locked stay.</p><p>Export the messages first if you may need them.</p></>,
    act: () => start({ kind: "purge", entity, filter: without(filter) }),
  });
}

// resubmit sends dead letters again to their own entity or to another one, as they are or edited.
export function resubmit(entity: string, filter: Filter, count?: number, then?: () => unknown): void {
  const order: { now: Again } = { now: asTheyAre }, { noun, where } = named(entity);
  ask({
    title: "Resubmit dead letters?", yes: `Resubmit ${some(noun, count)}`, form: true, harmless: true,
    text: <AgainForm keep={(a) => (order.now = a)}>
      <p>{sentence(noun, count)} of <b><Text>{where}</Text></b> <Text>{words(filter)}</Text> will be sent as new messages and leave the dead-letter queue. Receivers may get them at once, so resubmitting cannot be undone.</p>
    </AgainForm>,
    act: async () => {
      await start({ kind: "resubmit", entity, filter: without(filter), ...orderOf(order.now) });
      await then?.();
    },
  });
}
