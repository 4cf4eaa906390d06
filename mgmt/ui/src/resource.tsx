// What Azure Resource Manager knows of the namespace: its id, tags, policies, identities and role assignments, and the code that creates it.
import { useEffect, useState } from "preact/hooks";
import { at, Failure, get, open, textOf, type Schemas } from "./api";
import { keptHere } from "./kept";
import { Badge, Button, Code, copy, CopyButton, Empty, Facts, Loading, Panel, Problem, Text } from "./kit";
import { shown } from "./names";
import { usePoll, useTurns } from "./poll";
import { link, route } from "./route";
import { save } from "./save";
import { current, entities, namespaces } from "./state";

type Resource = Schemas["Resource"];

const lastOf = (id: string) => id.slice(id.lastIndexOf("/") + 1);

// Scope is where a role is assigned, with a way there if that is an entity.
function Scope({ r }: { r: Resource["roleAssignments"][number] }) {
  if (r.entity) return <a href={link("entity", r.entity)} title={r.scope}><Text>{shown(r.entity)}</Text></a>;
  const above = /\/resourceGroups\/([^/]+)$/i.exec(r.scope)?.[1];
  return <span title={r.scope}>{!r.above ? "this namespace" : above ? <>resource group <Text>{above}</Text></> : r.scope === "/" ? "everything" : "subscription"}</span>;
}

function Policies({ list }: { list: Resource["policies"] }) {
  const strings = namespaces.value?.find((n) => n.name === current.value)?.connectionStrings ?? [];
  return (
    <Panel title="Shared access policies">
      {list.length === 0 && <Empty title="No policies" />}
      {list.length > 0 && <ul class="rule-list policies">{list.map((p) => {
        const own = !p.entity && strings.find((s) => s.keyName === p.name);
        return (
          <li key={`${p.entity}/${p.name}`} class="rule-row">
            <div class="rule-what"><b><Text>{p.name}</Text></b> {p.rights.map((x) => <Badge key={x}>{x}</Badge>)} {p.entity && <span class="faint">of <a href={link("entity", p.entity, "settings")}><Text>{shown(p.entity)}</Text></a></span>}</div>
            <div class="actions">{own && <Button small act={() => copy(own.connectionString)}>Copy connection string</Button>}</div>
          </li>
        );
      })}</ul>}
    </Panel>
  );
}

function Roles({ list }: { list: Resource["roleAssignments"] }) {
  return (
    <Panel title="Role assignments" flush>
      {list.length === 0 && <Empty title="No role assignments"><p>They count for tokens of identities, with <code>--auth entra</code>. Assign them with az, Bicep or Terraform.</p></Empty>}
      {list.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Role assignments"><table class="plain lines">
          <thead><tr><th>Role</th><th>Rights on messages</th><th>Assigned to</th><th>At</th></tr></thead>
          <tbody>{list.map((r) => (
            <tr key={r.id} title={r.description}>
              <td><Text>{r.role}</Text></td>
              <td data-label="rights">{r.rights.length > 0 ? r.rights.map((x) => <><Badge key={x}>{x}</Badge> </>) : <span class="faint">none</span>}</td>
              <td>{r.identity ? <span title={r.principalId}><Text>{lastOf(r.identity)}</Text></span> : <code>{r.principalId}</code>} <span class="faint"><Text>{r.principalType}</Text></span></td>
              <td><Scope r={r} /></td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
    </Panel>
  );
}

function Identities({ list }: { list: Resource["identities"] }) {
  if (list.length === 0) return null;
  return (
    <Panel title="Identities" flush>
      <div class="scroll" tabIndex={0} role="region" aria-label="Identities"><table class="plain lines">
        <thead><tr><th>Identity</th><th>Principal id</th><th>Client id</th><th><span class="hidden">Actions</span></th></tr></thead>
        <tbody>{list.map((i) => (
          <tr key={i.principalId}>
            <td>{i.id ? <span title={i.id}><Text>{lastOf(i.id)}</Text></span> : "system-assigned"}</td><td data-label="principal"><code>{i.principalId}</code></td><td data-label="client"><code>{i.clientId}</code></td>
            <td class="right"><CopyButton text={i.clientId} what="Copy client id" /></td>
          </tr>
        ))}</tbody>
      </table></div>
    </Panel>
  );
}

const formats = [["az", "az", "entities.sh"], ["bicep", "Bicep", "servicebus.bicep"], ["terraform", "Terraform", "servicebus.tf"]] as const;
const format = keptHere<string>("resource-format", "az");

// AsCode is what creates the namespace with all that is in it, in one of the languages.
function AsCode({ namespace, version }: { namespace: string; version: string }) {
  const [text, setText] = useState<string>(), [problem, setProblem] = useState(""), begin = useTurns();
  const [name, title, file] = formats.find(([f]) => f === format.value) ?? formats[0];
  useEffect(() => {
    const latest = begin();
    open("GET", at`${namespace}/config/export`, { query: { format: name, whole: true } }).then((a) => a.text()).then((t) => { if (latest()) { setText(t); setProblem(""); } }, (e) => { if (latest()) setProblem(textOf(e)); });
  }, [namespace, name, version]);
  return (
    <Panel title="As code" actions={<div class="chips" role="group" aria-label="Language">{formats.map(([f, t]) => <button key={f} type="button" class="chip" aria-pressed={f === name} onClick={() => (format.value = f)}>{t}</button>)}</div>}>
      <p class="hint">Creates this namespace with its entities, policies and role assignments, without keys. The resource group must exist.</p>
      {problem && <Problem text={problem} />}
      {text === undefined ? !problem && <Loading /> : <><Code text={text.trimEnd()} label={`The namespace in ${title}`} /><div class="bar"><Button act={() => save(new Blob([text], { type: "text/plain" }), file)}>Download {file}</Button></div></>}
    </Panel>
  );
}

// read returns nothing where there is no Resource Manager.
const read = (namespace: string, signal: AbortSignal): Promise<Resource | null> =>
  get<Resource>(at`${namespace}/resource`, {}, signal).catch((e) => { if (e instanceof Failure && e.status === 404) return null; throw e; });

export function ResourceScreen() {
  const { namespace } = route.value, p = usePoll(namespace, 5000, (signal) => read(namespace, signal)), r = p.value;
  return (
    <>
      <h1>Azure resource</h1>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {r === undefined && !p.error && <Loading />}
      {r === null && <Empty title="Resource Manager is off"><p>Start Minibus without <code>--arm off</code> to manage namespaces with az, Bicep and Terraform.</p></Empty>}
      {r && (
        <>
          <Panel title="Resource">
            <Code text={r.id} label="Resource id" />
            <Facts dense facts={[
              ["Resource group", <Text>{r.resourceGroup}</Text>], ["Location", <Text>{r.location}</Text>], ["Tier", r.sku + (r.capacity ? `, ${r.capacity} messaging units` : "")],
              ["Keys", r.disableLocalAuth ? <Badge tone="warn">refused</Badge> : "accepted"],
              ["Tags", Object.keys(r.tags).length > 0 ? Object.entries(r.tags).map(([k, v]) => <><Badge key={k}><Text>{`${k}: ${v}`}</Text></Badge> </>) : "none"],
            ]} />
          </Panel>
          <Policies list={r.policies} />
          <Roles list={r.roleAssignments} />
          <Identities list={r.identities} />
          {r.withoutEffect.length > 0 && (
            <Panel title="Stored without effect" flush>
              <table class="plain lines"><tbody>{r.withoutEffect.map((s) => <tr key={s.id}><td title={s.id}><Text>{lastOf(s.id)}</Text></td><td class="faint"><Text>{s.type}</Text></td></tr>)}</tbody></table>
            </Panel>
          )}
          <AsCode namespace={namespace} version={JSON.stringify([r, entities.value?.map((e) => e.path)])} />
        </>
      )}
    </>
  );
}
