// Making a queue, a topic or a subscription.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, call, Failure, type Entity } from "./api";
import { Fields, fieldOf, useFocusOn } from "./entityform";
import { sorted } from "./findings";
import { Button, Panel, Problem, Tabs } from "./kit";
import { shown } from "./names";
import { go, link, route, withQuery } from "./route";
import { propertiesOf, type Kind, type Texts } from "./settings";
import { entities, refresh } from "./state";
import { tell } from "./toasts";

const kinds: { kind: Kind; title: string; what: string }[] = [
  { kind: "queue", title: "Queue", what: "Each message goes to one receiver." },
  { kind: "topic", title: "Topic", what: "Each subscription gets a copy of the messages its rules select." },
  { kind: "subscription", title: "Subscription", what: "Gets a copy of each message sent to its topic that its rules select. A new one selects all." },
];

// newEntity returns the address of the form for a new entity.
export const newEntity = (kind: Kind, topic?: string, name?: string) => withQuery(link("new"), { kind, topic, name });

function TopicField({ topic, set, wrong }: { topic: string; set: (topic: string) => void; wrong?: string }) {
  const topics = (entities.value ?? []).filter((e) => e.kind === "topic").map((e) => e.path);
  return (
    <div class="setting name">
      <label class="field-label" for="set-topic">Topic</label>
      <select id="set-topic" value={topic} aria-describedby="help-topic" aria-invalid={wrong ? true : undefined} onChange={(e) => set(e.currentTarget.value)}>
        <option value="">Choose a topic</option>
        {[...new Set(topic ? [...topics, topic] : topics)].map((t) => <option key={t} value={t}>{t}</option>)}
      </select>
      <span id="help-topic" class={wrong ? "wrong" : "hint"}>{wrong ?? (topics.length === 0 ? "There is no topic yet. Create one first." : "The topic whose messages it gets.")}</span>
    </div>
  );
}

export function Create() {
  const { namespace, query } = route.value;
  const { kind, title, what } = kinds.find((k) => k.kind === query.kind) ?? kinds[0]!;
  const [name, setName] = useState(query.name ?? ""), [topic, setTopic] = useState(query.topic ?? ""), [texts, setTexts] = useState<Texts>({});
  const [wrong, setWrong] = useState<Texts>({}), [problem, setProblem] = useState("");
  const first = useRef<HTMLInputElement>(null);
  useFocusOn(wrong);
  useLayoutEffect(() => { // before the next key, which is for the name
    first.current?.focus();
    setTopic(query.topic ?? "");
    setWrong({});
    setProblem("");
  }, [query.kind, query.topic]);
  const refuse = (fields: Texts, rest: string) => {
    setWrong(fields);
    setProblem(rest);
  };
  const clear = (field: string) => { // what was wrong is being corrected
    setWrong(({ [field]: _, ...rest }) => rest);
    setProblem("");
  };
  const submit = async () => {
    const { properties, wrong: local } = propertiesOf(kind, texts);
    if (!name.trim()) local.Name = "Enter a name.";
    if (kind === "subscription" && !topic) local.topic = "Choose a topic.";
    if (Object.keys(local).length > 0) return refuse(local, "");
    let path = kind === "subscription" ? `${topic}/Subscriptions/${name.trim()}` : name.trim();
    try {
      ({ path } = await call<Entity>("PUT", at`${namespace}/entities/${path}`, { query: { kind, onlyNew: true }, body: { Properties: properties } })); // as the broker names it
    } catch (e) {
      if (e instanceof Failure && e.status === 409) return refuse({ Name: `There is already an entity with this name${kind === "subscription" ? " in the topic" : ""}.` }, "");
      const found = sorted(e, fieldOf(kind));
      return refuse(found.wrong, found.rest);
    }
    refresh();
    go(link("entity", path));
    tell(`Created ${shown(path)}.`);
  };
  return (
    <>
      <h1>New {title.toLowerCase()}</h1>
      <Tabs at={kind} tabs={kinds.map((k) => ({ name: k.kind, title: k.title, href: newEntity(k.kind, query.topic) }))} />
      <form class="entity-form" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <Panel>
          <p class="hint">{what}</p>
          {kind === "subscription" && <TopicField topic={topic} set={(t) => { setTopic(t); clear("topic"); }} wrong={wrong.topic} />}
          <div class="setting name">
            <label class="field-label" for="set-Name">Name</label>
            <input id="set-Name" ref={first} value={name} spellcheck={false} autocomplete="off" aria-describedby="help-Name" aria-invalid={wrong.Name ? true : undefined} onInput={(e) => { setName(e.currentTarget.value); clear("Name"); }} />
            <span id="help-Name" class={wrong.Name ? "wrong" : "hint"}>{wrong.Name ?? `Letters, digits, . - _ ~${kind === "subscription" ? "; up to 50 characters" : " and / between parts; up to 260 characters"}.`}</span>
          </div>
          <p class="hint">A name is enough: the rest has Azure’s defaults.</p>
          <Fields kind={kind} texts={texts} wrong={wrong} set={(s, text) => { setTexts((old) => ({ ...old, [s]: text })); clear(s); }} />
          {problem && <Problem text={problem} />}
          <div class="bar"><Button kind="primary" type="submit">Create the {title.toLowerCase()}</Button><a class="button" href={link("")}>Cancel</a></div>
        </Panel>
      </form>
    </>
  );
}
