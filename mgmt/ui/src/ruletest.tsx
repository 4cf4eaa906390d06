// The test of rules: a message that is not sent, and which subscriptions would get it. The message and the rule that is tried stand in the address.
import { useEffect, useState } from "preact/hooks";
import { at, call, textOf, type Schemas } from "./api";
import { Results } from "./ruletestresults";
import { draftOf as draftOfMessage, fields } from "./draft";
import { sorted } from "./findings";
import { Button, Field, Panel, Problem, Text } from "./kit";
import { list, read as readStored, type Message as Known } from "./message";
import { nameOf, shown, topicOf } from "./names";
import { Properties, valueOf, type Property } from "./properties";
import { link, refine, route, withQuery } from "./route";
import { draftOfText, emptyDraft, propertiesOf, type Draft } from "./ruletext";
import { RuleFields, Sentence } from "./rules";
import { isoSpan, SpanField, typedSpan } from "./spanfield";
import { entities } from "./state";

type Matching = Schemas["Matching"];

interface Message {
  fields: Record<string, string>;
  properties: Property[];
}

const longest = 6000; // of a message in the address, in characters

// stored returns a message in the form in which it stands in the address: fields, and properties as [name, type, text].
const stored = (m: Message): string => JSON.stringify({ ...m.fields, p: m.properties.map((p) => [p.name, p.type, p.text]) });

// lookedAt returns what the rules look at in a message.
function lookedAt(m: Known): Message {
  const d = draftOfMessage(m), ttl = d.fields.timeToLive;
  return { fields: ttl ? { ...d.fields, timeToLive: typedSpan(ttl) } : d.fields, properties: d.properties };
}

// ruleTestOf returns the address of the test of a topic, with a message.
export const ruleTestOf = (topic: string, m: Known): string => withQuery(link("entity", topic, "test"), { m: stored(lookedAt(m)) });

// read reads a message of the address. What is none is an empty one.
function read(text?: string): Message {
  try {
    const { p = [], ...rest } = JSON.parse(text ?? "{}") as { p?: [string, string, string][] } & Record<string, string>;
    const known = fields.map(([name]): [string, unknown] => [name, rest[name]]).filter((f): f is [string, string] => typeof f[1] === "string");
    return { fields: Object.fromEntries(known), properties: p.map(([name, type, value]) => ({ name: String(name), type: String(type), text: String(value) })) };
  } catch {
    return { fields: {}, properties: [] };
  }
}

// messageOf makes the message of a request. It throws if a value is not of its type.
function messageOf(m: Message): object {
  const out: Record<string, unknown> = Object.fromEntries(Object.entries(m.fields).filter(([, v]) => v !== ""));
  if (out.timeToLive) out.timeToLive = isoSpan(String(out.timeToLive));
  const named = m.properties.filter((p) => p.name !== "");
  if (named.length > 0) out.applicationProperties = Object.fromEntries(named.map((p) => [p.name, valueOf(p)]));
  return out;
}

const first = ["subject", "sessionId"]; // the rest is folded

function MessageForm({ m, set }: { m: Message; set: (m: Message) => void }) {
  const put = (name: string, text: string) => set({ ...m, fields: { ...m.fields, [name]: text } });
  const input = ([name, title]: readonly [string, string]) => name === "timeToLive" ? <SpanField key={name} label="Time to live" value={m.fields[name] ?? ""} set={(text) => put(name, text)} /> : (
    <Field key={name} label={title}><input value={m.fields[name] ?? ""} spellcheck={false} onInput={(e) => put(name, e.currentTarget.value)} /></Field>
  );
  const more = fields.filter(([name]) => !first.includes(name));
  return (
    <>
      <div class="settings">{fields.filter(([name]) => first.includes(name)).map(input)}</div>
      <Properties list={m.properties} set={(properties) => set({ ...m, properties })} />
      <details class="group" open={more.some(([name]) => m.fields[name])}>
        <summary><b>More</b> <span class="faint">ids, content type, to, reply to</span></summary>
        <div class="settings">{more.map(input)}</div>
      </details>
    </>
  );
}

// useMatching asks about a message whenever it has been left alone for a moment.
function useMatching(path: string, m: Message, rule: string) {
  const namespace = route.value.namespace, key = JSON.stringify([namespace, path, stored(m), rule]);
  const [answer, set] = useState<{ matching?: Matching; problem?: unknown; local?: string }>({});
  useEffect(() => {
    const end = new AbortController();
    let message: object;
    try {
      message = messageOf(m);
    } catch (e) {
      set((old) => ({ ...old, local: textOf(e), problem: undefined }));
      return;
    }
    const timer = setTimeout(() => {
      const text = JSON.stringify({ message }).slice(0, -1) + (rule ? `,"rule":{"Properties":${rule}}}` : "}");
      call<Matching>("POST", at`${namespace}/entities/${path}/match`, { text, signal: end.signal }).then(
        (matching) => set({ matching }),
        (problem) => end.signal.aborted || set((old) => ({ ...old, problem, local: undefined })));
    }, 250);
    return () => { clearTimeout(timer); end.abort(); };
  }, [key]);
  return answer;
}

const ruleField = (path: string) => (path.includes("SqlFilter") ? "sql" : path.includes("Action") ? "action" : undefined);

// Trial is the form for a rule that is asked and not stored.
function Trial({ path, rule, problem }: { path: string; rule: string; problem: unknown }) {
  const [d, set] = useState<Draft>(() => draftOfText(rule) ?? emptyDraft), [wrong, setWrong] = useState("");
  const isTopic = topicOf(path) === undefined, found = problem && rule ? sorted(problem, ruleField).wrong : {};
  const ask = () => {
    try {
      refine({ rule: JSON.stringify(propertiesOf(d)) });
      setWrong("");
    } catch (e) {
      setWrong(textOf(e));
    }
  };
  const parsed = rule ? draftOfText(rule) : undefined;
  return (
    <details class="group" open={rule !== ""}>
      <summary><b>Try a rule before saving it</b> <span class="faint">{isTopic ? "as a new subscription’s" : "instead of the subscription’s rules"}</span></summary>
      <form class="trial" onSubmit={(e) => { e.preventDefault(); ask(); }}>
        {parsed && <div class="note">Trying: <Sentence properties={propertiesOf(parsed) as Schemas["RuleProperties"]} /></div>}
        <RuleFields d={d} set={set} wrong={found} />
        {wrong && <Problem text={wrong} />}
        <div class="bar"><Button kind={rule ? "plain" : "primary"} type="submit">Try the rule</Button>{rule && !isTopic && <a class="button" href={withQuery(link("entity", path, "rules"), { new: 1, rule })}>Save as a new rule</a>}{rule && <Button act={() => refine({ rule: undefined })}>Back to the saved rules</Button>}</div>
      </form>
    </details>
  );
}

// Copies offers the messages that other subscriptions of the topic got: then nobody has to type one.
function Copies({ topic, set }: { topic: string; set: (m: Message) => void }) {
  const owners = (entities.value ?? []).filter((e) => topicOf(e.path)?.toLowerCase() === topic.toLowerCase() && e.counts.active > 0).slice(0, 3);
  const take = async (path: string) => {
    const namespace = route.value.namespace;
    const { items: [newest] } = await list(namespace, path, { order: "newest", limit: 1 }); // without its properties
    if (newest) set(lookedAt(await readStored(namespace, path, newest.sequenceNumber)));
  };
  if (owners.length === 0) return null;
  return <div class="bar"><span class="faint">Or use the newest message of</span>{owners.map((e) => <Button key={e.path} small act={() => take(e.path)}>{nameOf(e)}</Button>)}</div>;
}

export function RuleTest({ path }: { path: string }) {
  const { query } = route.value, topic = topicOf(path), rule = query.rule ?? "";
  const [m, setM] = useState<Message>(() => read(query.m));
  const set = (next: Message) => {
    setM(next);
    const text = stored(next);
    refine({ m: text.length > longest || text === stored({ fields: {}, properties: [] }) ? undefined : text });
  };
  useEffect(() => {
    if (query.m && query.m !== stored(m)) setM(read(query.m)); // back, or another link
  }, [query.m]);
  const { matching, problem, local } = useMatching(path, m, rule);
  const found = problem ? sorted(problem, ruleField) : { wrong: {}, rest: "" };
  const inRule = rule && Object.keys(found.wrong).length > 0;
  return (
    <div class="rule-test">
      <Panel title="Test message">
        <p class="hint">Enter the properties your rules look at, and see at once which subscriptions would get the message. Nothing is sent, and the body doesn’t matter. The page’s address includes the message, so you can share it.</p>
        <Copies topic={topic ?? path} set={set} />
        <MessageForm m={m} set={set} />
        <Trial key={rule} path={path} rule={rule} problem={problem} />
      </Panel>
      <div class="rule-test-results">
        {local && <Problem text={local} />}
        {problem !== undefined && !local && <Problem text={inRule ? "There is an error in the rule you try. See the form." : found.rest} />}
        {topic && <p class="hint">Only <b><Text>{shown(path)}</Text></b>. <a href={withQuery(link("entity", topic, "test"), { m: query.m, rule: query.rule })}>Test all subscriptions of <Text>{topic}</Text></a></p>}
        {matching && !problem && <Results matching={matching} m={query.m} stale={local !== undefined} rule={rule || undefined} only={topic !== undefined} />}
      </div>
    </div>
  );
}
