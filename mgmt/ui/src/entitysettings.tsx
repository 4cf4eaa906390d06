// The settings of an entity that exists: changing them, and deleting the entity.
import { useEffect, useState } from "preact/hooks";
import { at, call, open, type Schemas } from "./api";
import { ask } from "./asking";
import { Fields, fieldOf, lossOf, useFocusOn } from "./entityform";
import { sorted } from "./findings";
import { plural } from "./format";
import { parse, type Node } from "./json";
import { Button, Panel, Problem, Text } from "./kit";
import { nameOf, shown, topicOf } from "./names";
import { Policies } from "./policies";
import { go, holdBack, link, route } from "./route";
import { propertiesOf, textsOf, type Texts } from "./settings";
import { refresh } from "./state";
import { tell, tellUndo } from "./toasts";

export type Whole = Schemas["WholeEntity"];

// entityText returns what a Config.json has of an entity, with its subscriptions, rules and keys.
async function entityText(namespace: string, path: string): Promise<string | undefined> {
  const text = await (await open("GET", at`${namespace}/config`, { query: { keys: true } })).text(), whole = parse(text);
  const child = (n: Node | undefined, name: string) => n?.items?.[n.names?.indexOf(JSON.stringify(name)) ?? -1];
  const named = (list: Node | undefined, name: string) => list?.items?.find((n) => {
    const at = child(n, "Name");
    return at && (JSON.parse(text.slice(at.from, at.to)) as string).toLowerCase() === name.toLowerCase();
  });
  const of = child(child(whole?.root, "UserConfig"), "Namespaces")?.items?.[0], topic = topicOf(path);
  const found = topic ? named(child(named(child(of, "Topics"), topic), "Subscriptions"), nameOf({ path, kind: "subscription" })) : named(child(of, "Queues"), path) ?? named(child(of, "Topics"), path);
  return found && text.slice(found.from, found.to);
}

// drop deletes an entity after a question that says what goes with it.
export function drop(e: Whole): void {
  const namespace = route.value.namespace, { messages, subscriptions } = lossOf(e.path), sources = e.forwardedFrom.length;
  ask({
    title: `Delete the ${e.kind}?`, yes: `Delete the ${e.kind}`,
    text: <>
      <p><b><Text>{shown(e.path)}</Text></b> is deleted{subscriptions > 0 && <> with {plural(subscriptions, "subscription")}</>}, and {messages > 0 ? <b>{plural(messages, "message")}</b> : "no message"} with it.</p>
      {sources > 0 && <p>{plural(sources, "entity", "entities")} {sources === 1 ? "forwards" : "forward"} to it. Their messages wait until an entity of this name exists again.</p>}
      <p>Clients that send or receive here are disconnected from it.</p>
    </>,
    losing: messages > 0 ? "deletion" : undefined,
    act: async () => {
      const text = messages > 0 ? undefined : await entityText(namespace, e.path).catch(() => undefined); // a Config.json cannot say everything
      await call("DELETE", at`${namespace}/entities/${e.path}`);
      holdBack(); // changes of what is gone are of no use
      const topic = e.kind === "subscription" ? topicOf(e.path) : undefined;
      go(topic ? link("entity", topic) : link(""));
      refresh();
      if (!text) return tell(`Deleted ${shown(e.path)}${messages > 0 ? ` with ${plural(messages, "message")}` : ""}.`);
      tellUndo(`Deleted ${shown(e.path)}. It was empty.`, async () => {
        await call("PUT", at`${namespace}/entities/${e.path}`, { query: { kind: e.kind, onlyNew: true }, text });
        refresh();
        go(link("entity", e.path));
        return `${shown(e.path)} is back, with its settings.`;
      });
    },
  });
}

export function EntitySettings({ e, done }: { e: Whole; done: () => void }) {
  const [before, setBefore] = useState(() => textsOf(e.kind, e.properties)), [texts, setTexts] = useState<Texts>(before);
  const [wrong, setWrong] = useState<Texts>({}), [problem, setProblem] = useState("");
  useFocusOn(wrong);
  const begin = (from: Texts) => {
    setBefore(from);
    setTexts(from);
    setWrong({});
    setProblem("");
  };
  const { properties, wrong: local } = propertiesOf(e.kind, texts, before);
  const count = Object.keys(properties).length + Object.keys(local).length;
  useEffect(() => {
    if (count === 0) return;
    holdBack((leave) => ask({
      title: "Leave unsaved changes?", yes: `Discard ${plural(count, "change")}`, act: leave,
      text: <p>{plural(count, "setting")} of <b><Text>{shown(e.path)}</Text></b> {count === 1 ? "is" : "are"} changed and not saved.</p>,
    }));
    const stay = (x: Event) => x.preventDefault(); // the browser asks
    addEventListener("beforeunload", stay);
    return () => {
      holdBack();
      removeEventListener("beforeunload", stay);
    };
  }, [count]);
  const refuse = (fields: Texts, rest: string) => {
    setWrong(fields);
    setProblem(rest);
  };
  const put = (name: string, text: string) => {
    setTexts((old) => ({ ...old, [name]: text }));
    setWrong(({ [name]: _, ...rest }) => rest); // what was wrong is being corrected
    setProblem("");
  };
  const submit = async () => {
    if (Object.keys(local).length > 0) return refuse(local, "");
    try {
      const made = await call<Whole>("PATCH", at`${route.value.namespace}/entities/${e.path}`, { body: { Properties: properties } });
      begin(textsOf(made.kind, made.properties));
    } catch (x) {
      const found = sorted(x, fieldOf(e.kind));
      return refuse(found.wrong, found.rest);
    }
    done();
    refresh();
    tell(`Saved ${plural(count, "setting")}.`);
  };
  return (
    <>
      <form class="entity-form" onSubmit={(x) => { x.preventDefault(); void submit(); }}>
        <Panel title="Settings">
          <p class="hint">Changes apply at once, and connected clients reconnect by themselves. An empty field gets the default.</p>
          <Fields kind={e.kind} texts={texts} wrong={wrong} before={before} set={put} />
          {problem && <Problem text={problem} />}
          <div class="bar stick">
            <Button kind="primary" type="submit" disabled={count === 0}>{count > 0 ? `Save ${plural(count, "change")}` : "No changes"}</Button>
            <Button disabled={count === 0} act={() => begin(textsOf(e.kind, e.properties))}>Discard</Button>
          </div>
        </Panel>
      </form>
      {e.kind !== "subscription" && <Policies path={e.path} />}
      <Panel title={`Delete the ${e.kind}`}>
        <p class="hint">Deletes the {e.kind} with {e.kind === "topic" ? "its subscriptions and all of their messages" : "all of its messages and dead letters"}. To remove only the messages, purge it.</p>
        <div><Button kind="danger" act={() => drop(e)}>{`Delete ${e.kind}`}</Button></div>
      </Panel>
    </>
  );
}
