// The policies of a queue or a topic: names, rights and keys with which clients may use that entity alone.
import { useEffect, useState } from "preact/hooks";
import { at, call, get, textOf } from "./api";
import { ask } from "./asking";
import type { Whole } from "./entitysettings";
import { sorted } from "./findings";
import { Badge, Button, copy, Empty, Loading, Panel, Problem, Text } from "./kit";
import { route } from "./route";
import { current, namespaces } from "./state";
import { tell, tellUndo, type Undo } from "./toasts";

interface Policy {
  KeyName: string;
  Rights: string[];
  PrimaryKey: string;
  SecondaryKey?: string;
}

const rights = ["Send", "Listen", "Manage"];

function newKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
}

// connectionOf returns the connection string of a policy, with the host that the namespace's own has.
function connectionOf(p: Policy, path: string): string {
  const whole = namespaces.value?.find((n) => n.name === current.value)?.connectionString ?? "";
  const rest = whole.split(";").filter((part) => part && !/^SharedAccessKey(Name)?=/.test(part));
  return [rest[0], `SharedAccessKeyName=${p.KeyName}`, `SharedAccessKey=${p.PrimaryKey}`, ...rest.slice(1), `EntityPath=${path}`].join(";");
}

function NewPolicy({ add, list }: { add: (p: Policy) => Promise<void>; list: Policy[] }) {
  const [name, setName] = useState(""), [chosen, choose] = useState<string[]>(["Send"]), [wrong, setWrong] = useState("");
  const toggle = (right: string, on: boolean) => choose(right === "Manage" && on ? rights : on ? [...chosen, right] : chosen.filter((r) => r !== right && r !== "Manage"));
  const submit = async () => {
    if (!name.trim() || chosen.length === 0) return setWrong("Enter a name and choose a right.");
    if (list.some((p) => p.KeyName.toLowerCase() === name.trim().toLowerCase())) return setWrong("There is already a policy with this name.");
    try {
      await add({ KeyName: name.trim(), Rights: rights.filter((r) => chosen.includes(r)), PrimaryKey: newKey(), SecondaryKey: newKey() });
      setName("");
      setWrong("");
    } catch (e) {
      setWrong(sorted(e, () => undefined).rest || textOf(e));
    }
  };
  return (
    <form class="bar" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
      <input aria-label="Name of the policy" placeholder="Name of the policy" value={name} spellcheck={false} autocomplete="off" onInput={(e) => setName(e.currentTarget.value)} />
      {rights.map((r) => <label key={r} class="check"><input type="checkbox" checked={chosen.includes(r)} onChange={(e) => toggle(r, e.currentTarget.checked)} /> {r}</label>)}
      <Button type="submit">Add policy</Button>
      {wrong && <Problem text={wrong} />}
    </form>
  );
}

export function Policies({ path }: { path: string }) {
  const namespace = route.value.namespace, entity = at`${namespace}/entities/${path}`;
  const [list, setList] = useState<Policy[]>(), [problem, setProblem] = useState("");
  const show = (e: Whole) => setList((e.properties.AuthorizationRules ?? []) as Policy[]);
  useEffect(() => void get<Whole>(entity, { keys: true }).then(show, (e) => setProblem(textOf(e))), [entity]);
  const save = async (next: Policy[], text?: string, undo?: Undo) => {
    await call("PATCH", entity, { body: { Properties: { AuthorizationRules: next } } });
    setList(next);
    if (text && undo) tellUndo(text, undo);
    else if (text) tell(text);
  };
  const change = (next: Policy[], text: string, undone: string) => {
    const before = list ?? [];
    return save(next, text, async () => { await save(before); return undone; });
  };
  const drop = (p: Policy) => ask({
    title: "Delete the policy?", yes: "Delete the policy",
    text: <p>With <code>--auth sas</code>, clients that use the keys of <b><Text>{p.KeyName}</Text></b> are refused.</p>,
    act: () => change((list ?? []).filter((x) => x !== p), "Deleted the policy.", "The policy is back, with its keys."),
  });
  const renew = (p: Policy) => ask({
    title: "Regenerate the keys?", yes: "Regenerate keys",
    text: <p>Replaces both keys of <b><Text>{p.KeyName}</Text></b>. With <code>--auth sas</code>, clients need the new connection string.</p>,
    act: () => change((list ?? []).map((x) => (x === p ? { ...p, PrimaryKey: newKey(), SecondaryKey: newKey() } : x)), "Regenerated the keys.", "The policy has its old keys again."),
  });
  return (
    <Panel title="Shared access policies">
      {problem && <Problem text={problem} />}
      {!list && !problem && <Loading />}
      {list?.length === 0 && <Empty title="No policies of its own"><p>Clients use the policies of the namespace. A policy here gives access to this entity alone. Keys are checked with <code>--auth sas</code>.</p></Empty>}
      {list && list.length > 0 && <ul class="rule-list policies">{list.map((p) => (
        <li key={p.KeyName} class="rule-row">
          <div class="rule-what"><b><Text>{p.KeyName}</Text></b> {p.Rights.map((r) => <Badge key={r}>{r}</Badge>)}</div>
          <div class="actions"><Button small act={() => copy(connectionOf(p, path))}>Copy connection string</Button><Button small act={() => renew(p)}>Regenerate keys</Button><Button small kind="danger" act={() => drop(p)}>Delete</Button></div>
        </li>
      ))}</ul>}
      {list && <NewPolicy list={list} add={(p) => save([...list, p], "Added the policy.")} />}
    </Panel>
  );
}
