// Who is connected, with which links, and how to end them.
import { all, at, call, type Connection, type Link } from "./api";
import { ask } from "./asking";
import { bytes, number, plural } from "./format";
import { Badge, Button, Empty, Facts, Loading, Panel, Problem, Text, Time } from "./kit";
import { clientOf, deadLetters, libraryOf, shown } from "./names";
import { usePoll } from "./poll";
import { Refusals } from "./refusals";
import { link, route, withQuery } from "./route";

const waits: Record<Link["waitsFor"], string> = {
  message: "messages", credit: "credit", session: "a free session", window: "session window", settlement: "settlement",
  reading: "the client to read", journal: "the disk", fault: "an injected fault", detach: "its detach",
};

// useConnections follows the connections, of one entity if it is given.
export function useConnections(namespace: string, entity?: string) {
  return usePoll(JSON.stringify([namespace, entity]), 2000, (signal) => all<Connection>(at`${namespace}/connections`, { entity }, 1000, signal));
}

// carries reports whether a link carries messages of a program, and not requests of its library.
export const carries = (l: Link) => l.entity !== undefined && !l.address.endsWith("/$management");

function close(namespace: string, c: Connection, done: () => void): void {
  const busy = c.links.reduce((n, l) => n + l.unsettled, 0);
  ask({
    title: "Close this connection?", yes: "Close the connection",
    text: <>
      <p><Text>{clientOf(c)}</Text> at {c.remote} is disconnected, with {plural(c.links.length, "link")}.</p>
      <p>{busy > 0 ? `${plural(busy, "unsettled message")} ${busy === 1 ? "becomes" : "become"} available again.` : "It holds no unsettled messages."} SDKs reconnect by themselves.</p>
    </>,
    act: async () => {
      await call("DELETE", at`${namespace}/connections/${c.id}`);
      done();
    },
  });
}

function detach(namespace: string, c: Connection, l: Link, done: () => void): void {
  ask({
    title: "Detach this link?", yes: "Detach the link",
    text: <>
      <p>The {l.role} of <Text>{clientOf(c)}</Text> on <Text>{shown(l.address)}</Text> is detached. The connection stays open.</p>
      <p>{l.role === "receiver" && l.unsettled > 0 ? `It holds ${plural(l.unsettled, "unsettled message")}.` : "It holds no unsettled messages."} SDKs attach again by themselves.</p>
    </>,
    act: async () => {
      await call("DELETE", at`${namespace}/connections/${c.id}/links/${l.id}`);
      done();
    },
  });
}

// modes are those that need a word beside the role.
const modes: Partial<Record<NonNullable<Link["mode"]>, [string, string]>> = {
  receiveAndDelete: ["ReceiveAndDelete", "Messages are removed as they are sent to the client"],
  browse: ["browsing", "A JMS queue browser: it looks at messages, and locks and removes none"],
};

// whyOf returns the address that says what a receiver waits for.
const whyOf = (c: Connection, l: Link) => withQuery(link("entity", l.entity!, "why"), { sub: l.subQueue === deadLetters ? "dead" : undefined, client: `${c.id}/${l.id}` });

function Mode({ l }: { l: Link }) {
  const mode = l.mode && modes[l.mode];
  return mode ? <div class="faint" title={mode[1]}>{mode[0]}</div> : null;
}

export function Links({ namespace, connection: c, links, done }: { namespace: string; connection: Connection; links: Link[]; done: () => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Links of ${clientOf(c)}`}>
      <table class="plain lines">
        <thead><tr><th>Role</th><th>Entity</th><th>Waits for</th><th class="right">Credit</th><th class="right">Unsettled</th><th class="right">Messages</th><th>Last active</th><th><span class="hidden">Actions</span></th></tr></thead>
        <tbody>
          {links.map((l) => (
            <tr key={l.id}>
              <td><Badge tone={l.role === "receiver" ? "good" : ""}>{l.role}</Badge> <Mode l={l} /></td>
              <td class="link-entity">{l.entity ? <a href={link("entity", l.entity)}><Text>{shown(l.address)}</Text></a> : <Text>{l.address}</Text>}
                {l.sessionId !== undefined && <div class="faint">session <Text>{l.sessionId}</Text></div>}
                {l.selector && <div class="faint" title="The JMS selector: it takes only messages that match">selector <Text class="mono small wrap">{l.selector}</Text></div>}</td>
              <td data-label="waits for">{waits[l.waitsFor]}</td>
              <td class="right" data-label="credit">{number(l.credit)}</td><td class="right" data-label="unsettled">{number(l.unsettled)}</td><td class="right" data-label="messages">{number(l.deliveries)}</td>
              <td data-label="last active"><Time at={l.lastActive} ageOnly real /></td>
              <td class="right">{l.role === "receiver" && l.entity && l.mode !== "browse" && <a class="button small" href={whyOf(c, l)} title="Why doesn’t it receive?">Why?</a>} <Button small act={() => detach(namespace, c, l, done)}>Detach</Button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const most = 200; // links shown of a connection

// LinksOf shows the links with messages, and the rest on demand.
function LinksOf({ namespace, c, done }: { namespace: string; c: Connection; done: () => void }) {
  const first = c.links.filter(carries), rest = c.links.filter((l) => !carries(l));
  return (
    <>
      {first.length > 0 && <Links namespace={namespace} connection={c} links={first.slice(0, most)} done={done} />}
      {first.length > most && <p class="hint pad">and {plural(first.length - most, "more link")}</p>}
      {first.length === 0 && !c.busy && <p class="hint pad">No sender or receiver is open.</p>}
      {rest.length > 0 && (
        <details class="more"><summary>{plural(rest.length, "link")} of the client library itself: tokens, management, transactions</summary>
          <Links namespace={namespace} connection={c} links={rest.slice(0, most)} done={done} /></details>
      )}
    </>
  );
}

function Card({ namespace, c, done, open = false }: { namespace: string; c: Connection; done: () => void; open?: boolean }) {
  const http = c.transport === "http", library = [c.product, c.version].filter(Boolean).join(" ");
  return (
    <Panel flush title={<><Text>{clientOf(c)}</Text> <span class="faint client">{[libraryOf(c), c.remote, c.id].filter(Boolean).join(" · ")} · <Time at={c.since} ageOnly real /></span></>} actions={<>
      <a class="button small" href={withQuery(link("events"), { client: http ? c.remote : c.id })}>Events</a>
      {!http && <Button small kind="danger" act={() => close(namespace, c, done)}>Close</Button>}
    </>}>
      {c.busy && <p class="hint pad above">The connection is busy: its links are unknown for now.</p>}
      <LinksOf namespace={namespace} c={c} done={done} />
      <details class="more" open={open}><summary>Details</summary>
        <Facts facts={[
          ["Connected", <Time at={c.since} real />], ["Transport", c.transport], ["Library", library || "unknown"], ["Platform", c.platform ? <Text>{c.platform}</Text> : "unknown"],
          ["Container id", c.container ? <Text>{c.container}</Text> : "none"], ["Waiting to be sent", bytes(c.pendingBytes)], ...(c.policies.length ? [["Signed in as", c.policies.join(", ")] as [string, string]] : []),
        ]} />
      </details>
    </Panel>
  );
}

// Chosen is the connection that a link elsewhere names. It stands above the others.
function Chosen({ namespace, id, c, done }: { namespace: string; id: string; c?: Connection; done: () => void }) {
  if (c) return <div class="chosen" aria-current="true"><Card namespace={namespace} c={c} done={done} open /></div>;
  return <p class="notice" role="note">Connection <b><Text>{id}</Text></b> is closed. <a href={withQuery(link("events"), { client: id })}>See its events</a></p>;
}

export function Connections() {
  const { namespace, query: { connection: chosen } } = route.value;
  const p = useConnections(namespace);
  const links = p.value?.reduce((n, c) => n + c.links.length, 0) ?? 0;
  return (
    <>
      <div class="title"><h1>Connections</h1>{p.value && p.value.length > 0 && <span class="faint">{plural(p.value.length, "client")}, {plural(links, "link")}</span>}</div>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value?.length === 0 && <Empty title="No client is connected."><p><a href={link("connect")}>Copy a connection string</a> and start your program.</p></Empty>}
      {chosen && p.value && <Chosen namespace={namespace} id={chosen} c={p.value.find((c) => c.id === chosen)} done={p.refresh} />}
      <Refusals namespace={namespace} />
      {p.value?.filter((c) => c.id !== chosen).map((c) => <Card key={c.id} namespace={namespace} c={c} done={p.refresh} />)}
    </>
  );
}
